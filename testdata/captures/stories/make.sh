#!/bin/sh
# Makes the captures of this folder again: ./make.sh MAXSEG NAME… (all without a NAME). Needs root, tshark and Python.
#
# A scenario that expresses the whole story runs as it is (`run --engine lab`). Elsewhere the scenario is the path, and
# programs in its hosts do what no flow of a scenario can: replies of several sizes, SO_SNDBUF, SSH's channel, a router
# that hands ICMP to somebody else.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
maxseg=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# keep FILE NAME: 82 bytes of each packet, as a classic pcap in gzip.
keep() {
    editcap -F nsecpcap -s 82 "$1" "$work/kept.pcap"
    gzip -9n <"$work/kept.pcap" >"$here/$2.pcap.gz"
}

# run NAME HOST: the scenario's flows, captured at HOST.
run() {
    "$maxseg" run "$here/$1.toml" --engine lab --pcap "$work/all.pcapng" --allow-invalid -q
    tshark -r "$work/all.pcapng" -Y "frame.interface_name == \"$2\"" -w "$work/one.pcapng"
    keep "$work/one.pcapng" "$1"
}

in_host() {
    host=$1
    shift
    "$maxseg" lab exec "$host" -- "$@"
}

# background HOST COMMAND: `lab exec` becomes the command, so that its number is the command's.
background() {
    "$maxseg" lab exec "$1" -- sh -c 'shift; exec "$@"' sh "$@" >"$work/server" 2>&1 &
    server=$!
}

# up NAME HOST INTERFACE: the path, and a capture there.
up() {
    "$maxseg" lab up "$here/$1.toml" -q
    capture "$2" "$3"
}

capture() {
    "$maxseg" lab exec "$1" -- dumpcap -q -i "$2" -s 128 -w "$work/one.pcapng" 2>"$work/dumpcap" &
    dumpcap=$!
    until grep -q File "$work/dumpcap"; do sleep 0.1; done
}

# talk KIND: the server at the sender of the scenario, the client at its receiver.
talk() {
    background sender python3 "$here/ends.py" serve "$1"
    until in_host sender ss -ltn | grep -q :5201; do sleep 0.1; done
    in_host receiver python3 "$here/ends.py" ask "$1" "$(address sender)" || true
    kill "$server" 2>/dev/null || true
}

# ssh_transfer: 28 MB through OpenSSH's client from dropbear, whose TCP buffers the kernel tunes.
ssh_transfer() {
    ssh-keygen -q -t ed25519 -N "" -f "$work/key"
    dropbearkey -t ed25519 -f "$work/host" >/dev/null 2>&1
    mkdir -p ~/.ssh && touch ~/.ssh/authorized_keys && cp ~/.ssh/authorized_keys "$work/keys-before"
    cat "$work/key.pub" >>~/.ssh/authorized_keys
    background sender dropbear -F -E -s -r "$work/host" -p 5201
    until in_host sender ss -ltn | grep -q :5201; do sleep 0.1; done
    in_host receiver ssh -T -i "$work/key" -p 5201 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -q \
        "root@$(address sender)" head -c 28000000 /dev/zero >/dev/null || true
    kill "$server" $(pgrep -P "$server") 2>/dev/null || true
    cp "$work/keys-before" ~/.ssh/authorized_keys
    [ -s ~/.ssh/authorized_keys ] || rm -f ~/.ssh/authorized_keys
}

address() {
    in_host "$1" sh -c 'ip -4 -br address show | grep -v "^lo" | head -1 | sed "s/.* \([0-9.]*\)\/.*/\1/"'
}

# down NAME: ends the capture and the lab.
down() {
    kill -INT "$dumpcap"
    wait "$dumpcap" || true
    "$maxseg" lab down -q
    keep "$work/one.pcapng" "$1"
}

story() {
    case $1 in
    vxlan | tunnel-in-tunnel) run "$1" sender ;;
    slow-start-after-idle) run "$1" sender ;;
    second-encapsulation)
        up "$1" sender pod
        talk two-sizes
        down "$1"
        ;;
    icmp-to-another-server)
        up "$1" r1 core
        # Equal-cost routing hands the message to a server that knows nothing of the connection.
        in_host r1 ip rule add ipproto icmp to "$(address sender)" blackhole
        talk web
        down "$1"
        ;;
    first-receive-buffer)
        up "$1" sender wan
        in_host receiver sysctl -qw net.ipv4.tcp_rmem="4096 16384 33554432"
        talk bulk
        down "$1"
        ;;
    send-buffer)
        up "$1" sender wan
        talk send-buffer
        down "$1"
        ;;
    ssh-channel)
        up "$1" sender wan
        ssh_transfer
        down "$1"
        ;;
    *) echo "no story $1" >&2 && exit 2 ;;
    esac
}

[ $# -gt 0 ] || set -- vxlan second-encapsulation tunnel-in-tunnel icmp-to-another-server first-receive-buffer \
    send-buffer ssh-channel slow-start-after-idle
for name; do
    echo "$name"
    story "$name"
done
