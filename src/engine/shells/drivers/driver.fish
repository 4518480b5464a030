# The driver that an interactive fish runs before it reads commands from its terminal.
#
#   A request is a line in the FIFO `cmd`: mode, slot, number and nonce. The command is in N.cmd.
#   __sa_dir, the other files N.* in it and the report, written to the FIFO `ctl`, are those of driver.bash. The state
#   begins with names in comments: see fish-state.ts.
#
# What fish itself has to say of a command, as errors of syntax and programs that are not there, it writes to its own
# stderr, whatever the command's is: that is the file `trap`, of which __sa_end makes a part of the command's stderr.
# The command is sourced at top level: variables that it sets are global, and `exit` and `return` end no more than the
# file. An interrupt unwinds fish to its prompt, where __sa_hook tells that it is idle. The daemon then types a
# newline, which is bound to __sa_recall: it starts the loop again, which reports. The loop keeps a descriptor of `ctl`, by which the
# daemon knows the driver; commands do not inherit it.
# An interrupt that comes while the loop waits for a request takes effect with the next one, of which a part or all is lost. At `idle` the
# daemon therefore writes the last request again. It runs if its nonce is new, and is reported as interrupted otherwise: the daemon ignores
# a second report.
# Functions come before builtins, hence `builtin`; some names, as `set` and `read`, cannot be functions.

set -g __sa_dir $__SA_DIR
set -g __sa_tag $SHELL_ADAPTER_TAG
set -e __SA_DIR
# The daemon has died: nothing else ends a sandbox that has started meanwhile, and opening the FIFOs would block for
# ever. 71 is EX_OSERR of sysexits.h.
test -t 0; or exec /bin/sh -c 'exit 71'
# Nothing is written to a file of the user's.
set -g fish_history ''
set -g __sa_stty (command -s stty)
set -g __sa_data $__fish_data_dir
set -g __sa_file (status filename)
set -g __sa_mode ''
set -g __sa_nonce ''
set -g __sa_last ''
set -g __sa_post ''
set -g __sa_closed ''
set -g __sa_st 0
set -g __sa_state 0

function fish_prompt
end
function fish_mode_prompt
end
function fish_right_prompt
end
function fish_title
end
# The ends of background jobs.
function fish_job_summary
end

function __sa_rc
    return $argv[1]
end

# Marks the end of a command's output on the terminal.
function __sa_close
    set -g __sa_closed 1
    builtin printf '\e]7711;z%s\a' $__sa_nonce >/dev/tty
end

# Notes the terminal's modes and puts them in order, whatever a program has left.
function __sa_tidy
    $__sa_stty -g </dev/tty >>$__sa_dir/modes 2>/dev/null
    $__sa_stty sane iutf8 </dev/tty 2>/dev/null
end

# After a command, also one that was interrupted: undoes what was for it alone, and reports. Takes the exit status.
function __sa_end
    set -g __sa_st $argv[1]
    if builtin contains -- $__sa_mode t u T U
        builtin test -s $__sa_dir/trap; and __sa_explain >/dev/tty
        builtin test -n "$__sa_closed"; or __sa_close
        __sa_tidy
    else
        builtin test -s $__sa_dir/trap; and __sa_explain >$__sa_slot.err
    end
    if builtin test -n "$__sa_post"
        builtin source $__sa_post
        set -g __sa_post ''
    end
    set -l __sa_pid $last_pid 0
    set -l __sa_report $__sa_nonce
    set -g __sa_nonce ''
    builtin printf '%s %s %s %s\0' $__sa_report $__sa_st $__sa_pid[1] "$PWD" >$__sa_dir/ctl
end

# Prints what fish has said, without the places in this driver.
function __sa_explain
    builtin read -z -l __sa_text <$__sa_dir/trap
    builtin printf '' >$__sa_dir/trap
    builtin printf %s "$__sa_text" | builtin string replace -ar '^(?:from sourcing file .*|\tcalled on line \d+ of file .*/(?:loop|driver\.fish))$' '' | builtin string match -v '' | builtin string replace -r '\S*/\d{3}\.cmd' fish
end

# Without its text or its pipes there is no command: the daemon, when it is told, kills this shell and starts another.
function __sa_lost
    builtin printf 'lost 0 0 /\0' >$__sa_dir/ctl
    /bin/sh -c 'kill -STOP "$PPID"'
end

# Ends the shell; `exit` would end the loop alone.
function __sa_quit
    builtin emit fish_exit
    /bin/sh -c 'kill -KILL "$PPID"'
end

# At the prompt: after an interrupt, or when the loop has ended in another way.
function __sa_hook --on-event fish_prompt
    if builtin test -n "$__sa_nonce"; and builtin contains -- $__sa_mode t u T U
        __sa_close
    end
    set -g __sa_idle 1
    builtin printf 'idle 0 0 /\0' >$__sa_dir/ctl
end

function __sa_recall
    if set -q __sa_idle
        set -g __sa_recalled 1
        builtin commandline -r 'builtin source $__sa_dir/loop'
    end
    builtin commandline -f execute
end

function __sa_end_of_file
    set -q __sa_idle; or builtin commandline -f delete-or-exit
end

# Functions that are not those of fish, or of this file.
function __sa_functions
    for __sa_name in (builtin functions -n)
        set -l __sa_from (builtin functions -D -- $__sa_name)
        builtin string match -q -- "$__sa_data/*" $__sa_from; and continue
        builtin contains -- $__sa_from $__sa_file n/a; or builtin printf '%s\n' $__sa_name
    end
end

# Saves variables. Takes the option that selects them: -x or -u, and the names that are not saved.
function __sa_save_variables
    set -l __sa_left 4000000
    for __sa_name in (set -g $argv[1] --names)
        builtin string match -qr -- "^(__sa_.*|__fish_.*|fish_.*|$argv[2])\$" $__sa_name; and continue
        set -l __sa_size (builtin string length -- "$$__sa_name" | builtin string collect)
        if builtin test $argv[1] = -u
            set __sa_left (builtin math $__sa_left - (builtin math (builtin string join + -- $__sa_size 100)))
            builtin test $__sa_left -gt 0; or continue
        end
        builtin printf 'set -g%s %s %s\n' (builtin string sub -s 2 -- $argv[1]) $__sa_name (builtin string join ' ' -- (builtin string escape -- $$__sa_name) | builtin string collect)
    end
end

# Saves what a new shell would need, under one of two names in turn, so that one of them is always whole.
function __sa_save
    set -l IFS \n' '\t
    builtin test $__sa_state = 0; and set -g __sa_state 1; or set -g __sa_state 0
    builtin printf 'set -g umask %s\n#end\n' $umask >$__sa_dir/settings.$__sa_state
    begin
        __sa_save_variables -u 'EUID|FISH_VERSION|IFS|_|argv|history|hostname|pipestatus|status|status_generation|umask|version|CMD_DURATION|COLUMNS|LINES'
        builtin printf '#end\n'
    end >$__sa_dir/variables.$__sa_state 2>/dev/null
    set -l __sa_names (__sa_functions)
    begin
        builtin printf '#names\n'
        for __sa_name in (set -gx --names)
            builtin printf '#variable %s %s\n' $__sa_name (builtin string escape --style=url -- "$$__sa_name")
        end
        builtin printf '#function %s\n' $__sa_names
        __sa_save_variables -x 'SHELL_ADAPTER_TAG|PWD|OLDPWD|SHLVL|_'
        for __sa_name in $__sa_names
            builtin functions -- $__sa_name
        end
        builtin printf '#end\n'
    end >$__sa_dir/state.$__sa_state 2>/dev/null
end

# `read` takes no more than a line only where the redirection is not its own. Modes, in capitals when there is text around the command: o stdout and stderr apart, i the same with a given stdin,
# t everything on the terminal, u the same with a given stdin; s saves the state, r restores the terminal's modes too,
# q ends the shell.
builtin printf %s 'set -e __sa_idle
while builtin true
    builtin test -z "$__sa_nonce"; or __sa_end 130
    builtin test -t 0; or __sa_quit
    begin
        builtin read -g -d " " __sa_mode __sa_slot __sa_number __sa_read
    end <$__sa_dir/cmd
    if builtin test $status -ne 0
        builtin test -p $__sa_dir/cmd; or __sa_quit
        continue
    end
    switch "$__sa_mode"
        case s
            __sa_save
            continue
        case r
            __sa_tidy
            __sa_save
            continue
        case q
            __sa_quit
        case o i t u O I T U
        case "*"
            # The rest of a request that an interrupt has cut.
            set -q __sa_recalled; and continue
            __sa_lost
    end
    set -e __sa_recalled
    if builtin test "$__sa_read" = "$__sa_last"
        builtin printf "%s 130 0 %s\\0" $__sa_last "$PWD" >$__sa_dir/ctl
        continue
    end
    set -g __sa_last $__sa_read
    set -g __sa_nonce $__sa_read
    set -g __sa_slot $__sa_dir/$__sa_slot
    set -g __sa_cmd $__sa_slot.cmd
    set -gx SHELL_ADAPTER_TAG $__sa_tag.$__sa_number
    builtin test -p $__sa_slot.out; or __sa_lost
    if builtin string match -qr "[A-Z]" -- $__sa_mode
        set -g __sa_post $__sa_slot.post
        builtin source $__sa_slot.pre
    end
    set -g __sa_closed ''
    switch $__sa_mode
        case o O
            __sa_rc $__sa_st
            builtin source $__sa_cmd >$__sa_slot.out 2>$__sa_slot.err 101>&-
        case i I
            __sa_rc $__sa_st
            builtin source $__sa_cmd <$__sa_slot.in >$__sa_slot.out 2>$__sa_slot.err 101>&-
        case t T
            builtin printf "\e]7711;a%s\a" $__sa_nonce
            __sa_rc $__sa_st
            builtin source $__sa_cmd 2>&1 101>&-
        case u U
            builtin printf "\e]7711;a%s\a" $__sa_nonce
            __sa_rc $__sa_st
            builtin source $__sa_cmd <$__sa_slot.in 2>&1 101>&-
    end
    set -g __sa_st $status
    __sa_end $__sa_st
end 101>$__sa_dir/ctl
' >$__sa_dir/loop

bind \n __sa_recall
bind \r __sa_recall
bind \cd __sa_end_of_file
for __sa_name in variables.0 variables.1 settings.0 settings.1 state.0 state.1 trap modes instead
    builtin printf '' >$__sa_dir/$__sa_name
end
set -e __sa_name
builtin printf 'ready 0 0 %s\0' "$PWD" >$__sa_dir/ctl
builtin source $__sa_dir/loop
