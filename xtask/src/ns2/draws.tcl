# The uniform numbers with which tcp.tcl decides about packets towards the receiver:
# ns draws.tcl SEED COUNT
set r [new RNG]
for {set i 0} {$i < [lindex $argv 0]} {incr i} {$r next-substream}
for {set i 0} {$i < [lindex $argv 1]} {incr i} {puts [$r uniform 0.0 1.0]}
