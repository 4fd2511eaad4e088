# Bulk flows of equal kind over one clean link, for the benchmark: ns flows.tcl KEY=VALUE ...
# Prints the number of data segments that were acknowledged, all flows together.
array set o {n 1 rate 1Gb delay 20ms win 3400 s 1460 T 20 qlim 20001 tcp Reno}
foreach a $argv { regexp {^([^=]+)=(.*)$} $a - k v; set o($k) $v }
remove-all-packet-headers
add-packet-header IP TCP Flags
set ns [new Simulator]
set a [$ns node]; set b [$ns node]
$ns duplex-link $a $b $o(rate) $o(delay) DropTail
$ns queue-limit $a $b $o(qlim); $ns queue-limit $b $a $o(qlim)
set senders {}
for {set i 0} {$i < $o(n)} {incr i} {
    set tcp [new Agent/TCP/$o(tcp)]; set sink [new Agent/TCPSink]
    $tcp set packetSize_ $o(s); $tcp set tcpip_base_hdr_size_ 40; $tcp set window_ $o(win)
    $ns attach-agent $a $tcp; $ns attach-agent $b $sink; $ns connect $tcp $sink
    set ftp [new Application/FTP]; $ftp attach-agent $tcp
    $ns at [expr {0.1 * $i}] "$ftp start"
    lappend senders $tcp
}
proc finish {} {
    global o senders
    set sum 0
    foreach tcp $senders { set acked [$tcp set ack_]; if {$acked > 0} { incr sum $acked } }
    puts $sum
    exit 0
}
$ns at $o(T) finish
$ns run
