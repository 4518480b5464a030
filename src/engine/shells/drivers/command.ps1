# Runs the command of the driver at top level. `exit` ends this file; `break` outside of a loop ends the loop here.
do { . $global:__sa.Request.Block } while ($false)
$global:__sa.Request.After = $?
