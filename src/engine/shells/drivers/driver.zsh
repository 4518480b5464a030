# The driver that an interactive zsh runs instead of reading commands from its terminal. Read by zsh as .zshrc.
#
#   zsh reads its commands from standard input, which becomes a file that holds one line many times over: wait for a
#   request, evaluate the command, report. Whatever ends a command, zsh goes on with a line of that file, and each line
#   begins by winding the file back. (A FIFO would not do: an interrupt while zsh reads a line makes it drop the line.)
#   Requests, reports and files are those of driver.bash. The FIFOs and the terminal have descriptors above 9 that
#   programs do not inherit.
#
# The command is evaluated at top level, never in a function: `typeset` must stay global. Nothing here may depend on
# options, which are the user's, or on builtins that functions stand before: hence `builtin`, and quotes everywhere.

unsetopt zle prompt_sp prompt_cr bang_hist notify check_jobs check_running_jobs flow_control
PS1='' PS2='' PS4='+%N:%i> ' RPS1=''
HISTSIZE=1 SAVEHIST=0
unset HISTFILE
zmodload zsh/system zsh/parameter
# node-pty lets some descriptors of other sessions through: their terminals are nobody else's business.
zmodload -F zsh/stat b:zstat
zstat -A __sa_own -f 0 +rdev
for __sa_fd in /dev/fd/*(N:t); do
  if [[ -t $__sa_fd ]] && zstat -A __sa_other -f $__sa_fd +rdev && [[ $__sa_other != $__sa_own ]]; then exec {__sa_fd}>&-; fi
done 2>/dev/null
zmodload -u zsh/stat
unset __sa_fd __sa_own __sa_other
typeset -g __sa_dir=$__SA_DIR __sa_tag=$SHELL_ADAPTER_TAG
# The mark of the session, which all processes inherit: see session-mark.ts.
ulimit -S -x $__SA_MARK 2>/dev/null
unset __SA_DIR __SA_MARK ZDOTDIR
# The daemon has died: nothing else ends a sandbox that has started meanwhile, and opening the FIFOs would block for ever.
[[ -t 0 ]] || exit 71
# 71 is EX_OSERR of sysexits.h.
sysopen -r -o cloexec -u __sa_requests $__sa_dir/cmd && sysopen -w -o cloexec -u __sa_reports $__sa_dir/ctl || exit 71
typeset -g __sa_tty=$TTY __sa_nul=$'\0' __sa_read='' __sa_body='' __sa_mode='' __sa_nonce='' __sa_slot='' __sa_cmd='' __sa_text='' __sa_set='' __sa_env=''
typeset -g __sa_stdin='' __sa_stdout='' __sa_stderr='' __sa_code='' __sa_int='' __sa_errexit='' __sa_no_aliases='' __sa_values='' __sa_name='' __sa_value=''
typeset -gi __sa_st=0 __sa_state=0

# `exit` ends the command, not the session: note the code, then unwind as Ctrl-C does, from any depth. A user's trap on
# INT and `set -e`, which would make that the shell's end, are put aside for that moment.
exit() {
  __sa_code=$?
  if (( ZSH_SUBSHELL )) || [[ -z ${__sa_nonce-} ]]; then builtin exit "${@-$__sa_code}"; fi
  if (( $# > 1 )); then
    builtin print -ru2 -- 'zsh: exit: too many arguments'
    __sa_code=''
    builtin return 1
  fi
  __sa_code=$(( ${1-$__sa_code} & 255 ))
  [[ ! -o err_exit ]] || __sa_errexit=1
  builtin set +e
  builtin trap >|"$__sa_dir/trap"
  __sa_int=1
  builtin trap - INT
  builtin kill -INT "$$"
  # Still here: a trap on INT does not unwind. Then the shell ends, and the daemon starts another.
  builtin exit "$__sa_code"
}
bye() { exit "$@" }

__sa_rc() { builtin return "$1" }

# Marks the end of a command's output on the terminal.
__sa_close() { builtin print -n -- "\e]7711;z$__sa_nonce\a" >"$__sa_tty" }

# Notes the terminal's modes and puts them in order, whatever a program has left.
__sa_tidy() {
  builtin command -p stty -g <"$__sa_tty" >>|"$__sa_dir/modes" || builtin true
  builtin command -p stty sane iutf8 <"$__sa_tty" || builtin true
} 2>/dev/null

# After a command: undo what was for it alone, and tell the daemon. Takes the status, and whether it was interrupted: a
# loop or a builtin then leaves its own.
__sa_end() {
  [[ -z ${functions[builtin]-} && -n ${builtins[builtin]-} && -n ${builtins[syswrite]-} ]] || __sa_repair
  if [[ -o xtrace || -o all_export || -o ignore_braces || -o ignore_close_braces ]]; then
    __sa_hold_options
  else
    __sa_set=''
  fi
  # The next line must be parsed without the user's aliases, which could stand for its keywords.
  if [[ -o aliases ]]; then builtin unsetopt aliases; else __sa_no_aliases=1; fi
  if [[ -n $__sa_code ]]; then __sa_st=$__sa_code; elif [[ $2 == 1 ]]; then __sa_st=130; else __sa_st=$1; fi
  [[ -z $__sa_int && $__sa_mode == [oi] ]] || __sa_after
  builtin syswrite -o "$__sa_reports" -- "$__sa_nonce $__sa_st ${!:-0} ${PWD-}$__sa_nul"
  __sa_nonce='' __sa_code=''
  [[ ! -o zle ]] || builtin unsetopt zle
}

# Takes away what the user has put before the builtins of the driver.
__sa_repair() {
  \enable builtin unfunction
  [[ -z ${functions[builtin]-} ]] || \unfunction builtin
  builtin enable . alias command eval exit export functions kill print return set setopt sysread sysseek syswrite trap
}

# Options that would show in the driver's own doing or in the environment, or keep its line from being understood: they
# come back with the next command. (No function can switch xtrace off.)
__sa_hold_options() {
  local option text=''
  for option in all_export ignore_braces ignore_close_braces xtrace; do
    [[ ! -o $option ]] || text+=" $option"
  done
  builtin unsetopt all_export ignore_braces ignore_close_braces
  __sa_set="{ builtin setopt$text; __sa_rc \$__sa_st && builtin true } 2>/dev/null; "
}

# What is to be done after a command on the terminal, after `exit`, and after one with text around it.
__sa_after() {
  [[ $__sa_mode != [tuTU] ]] || __sa_tidy
  if [[ -n $__sa_int ]]; then
    __sa_int=''
    [[ -z $__sa_errexit ]] || __sa_set="{ builtin set -e; __sa_rc \$__sa_st && builtin true } 2>/dev/null; $__sa_set"
    __sa_errexit=''
    # In this function a trap on EXIT would be the function's own, were it not for this option.
    builtin setopt local_options posix_traps
    builtin . "$__sa_dir/trap"
  fi
  [[ $__sa_mode != [A-Z] ]] || builtin . "$__sa_slot.post"
}

# Shows variables as comments of the state: the name, the length of the value, and the value in one line.
__sa_show_values() {
  builtin emulate -L zsh
  builtin print -r -- "#values $__sa_values"
  for __sa_name in ${(s: :)__sa_values}; do
    (( ${(P)+__sa_name} )) || builtin continue
    __sa_value="${(P)__sa_name}"
    builtin print -r -- "#value $__sa_name ${#__sa_value} ${(q)__sa_value[1,65536]}"
  done
  __sa_values=''
}

# Saves variables that are not exported, with their attributes.
__sa_save_variables() {
  builtin emulate -L zsh
  local -i __sa_left=4000000
  for __sa_name in ${(k)parameters}; do
    case $__sa_name:${parameters[$__sa_name]} in
      (IFS:*) ;;
      (*export*|*special*|*hide*|*local*|*tied*|*undefined*) builtin continue ;;
    esac
    [[ $__sa_name != (__sa_*|OLDPWD|PWD|TTY|LOGNAME|MAILCHECK|NULLCMD|READNULLCMD|WATCHFMT|LISTMAX|DIRSTACKSIZE) ]] || builtin continue
    __sa_value="${(P)__sa_name}"
    (( ${#__sa_value} <= 1000000 && (__sa_left -= ${#__sa_value} + 100) > 0 )) || builtin continue
    builtin typeset -p -- "$__sa_name"
  done
  __sa_name='' __sa_value=''
  builtin print -r -- '#end'
}

# Saves the umask, the options that are not those of a new shell, also those that are held back, and the traps.
__sa_save_settings() {
  local -A __sa_now
  __sa_now=("${(@kv)options[@]}")
  builtin print -rn -- 'builtin umask '
  builtin umask
  builtin trap
  builtin emulate -L zsh
  for __sa_name in ${(k)__sa_now}; do
    # Some cannot be set, and some are the driver's.
    [[ $__sa_name != (aliases|errexit|exec|interactive|login|privileged|restricted|shinstdin|singlecommand|stdin|zle) ]] || builtin continue
    [[ ${__sa_now[$__sa_name]} != ${__sa_options[$__sa_name]} ]] || builtin continue
    if [[ ${__sa_now[$__sa_name]} == on ]]; then
      builtin print -r -- "builtin setopt $__sa_name"
    else
      builtin print -r -- "builtin unsetopt $__sa_name"
    fi
  done
  [[ ${__sa_now[errexit]} == off ]] || builtin print -r -- 'builtin setopt errexit'
  __sa_value=${__sa_set#*builtin setopt}
  [[ -z $__sa_set ]] || builtin print -r -- "builtin setopt${__sa_value%%;*}"
  [[ -z $__sa_no_aliases ]] || builtin print -r -- 'builtin unsetopt aliases'
  __sa_name='' __sa_value=''
  builtin print -r -- '#end'
}

# Saves what a new shell would need, under one of two names in turn, so that one of them is always whole.
__sa_save() {
  __sa_state=$(( 1 - __sa_state ))
  __sa_save_settings >|"$__sa_dir/settings.$__sa_state" 2>/dev/null
  __sa_save_variables >|"$__sa_dir/variables.$__sa_state" 2>/dev/null
  { [[ -z $__sa_values ]] || __sa_show_values; builtin export -p; builtin functions; builtin alias -L; builtin print -r -- "#options $-"; builtin print -r -- '#end' } >|"$__sa_dir/state.$__sa_state"
}

# Waits for the next command and reads it; ends the shell when the daemon is gone. Returns the last command's status.
__sa_next() {
  # Not so if even __sa_end was cut short.
  [[ -z $__sa_nonce ]] || __sa_end 130 1
  builtin sysseek -u 0 0
  while
    # An interrupt may have come between the reading of a request and its taking.
    [[ -n $__sa_read ]] || builtin sysread -s 15 __sa_read <&"$__sa_requests" || builtin exit 0
    [[ $__sa_read == '>'* ]] || __sa_lost
    [[ -n $__sa_body ]] || builtin sysread -s "${__sa_read:11:4}" __sa_body <&"$__sa_requests" || builtin exit 0
    __sa_mode=${__sa_read:1:1}
    [[ $__sa_mode == [qrs] ]]
  do
    __sa_values=${__sa_body:23} __sa_read='' __sa_body=''
    [[ $__sa_mode != q ]] || builtin exit 0
    [[ $__sa_mode == s ]] || __sa_tidy
    __sa_save
  done
  builtin export "SHELL_ADAPTER_TAG=$__sa_tag.${__sa_read:5:6}"
  __sa_slot=$__sa_dir/${__sa_read:2:3} __sa_nonce=${__sa_body:1:22} __sa_cmd=${__sa_body:23} __sa_read='' __sa_body=''
  [[ -p $__sa_slot.out ]] || __sa_lost
  [[ -n $__sa_cmd ]] || __sa_cmd=$(<"$__sa_slot.cmd") || __sa_lost
  __sa_stdin=$__sa_tty __sa_stdout=$__sa_slot.out __sa_stderr=$__sa_slot.err
  if [[ $__sa_mode == o ]]; then __sa_text=$__sa_set$__sa_cmd; else __sa_before; fi
  [[ -n $__sa_no_aliases ]] || builtin setopt aliases
  __sa_no_aliases=''
  builtin return "$__sa_st"
}

# Without its text or its pipes there is no command: the daemon, when it is told, kills this shell and starts another.
__sa_lost() {
  builtin syswrite -o "$__sa_reports" -- "lost 0 0 /$__sa_nul"
  builtin kill -STOP "$$"
}

# What is to be done before a command that is not of the plain kind. On the terminal the marks of its output stand
# closely around it, so that no trace of the driver's doing comes between.
__sa_before() {
  local __sa_away=''
  __sa_env=''
  [[ $__sa_mode != [A-Z] ]] || builtin . "$__sa_slot.pre"
  [[ -z $__sa_away ]] || __sa_put_away
  __sa_cmd=$__sa_set$__sa_cmd
  __sa_text="$__sa_env \\builtin eval \"\$__sa_cmd\""
  [[ $__sa_mode != [iIuU] ]] || __sa_stdin=$__sa_slot.in
  if [[ $__sa_mode == [tuTU] ]]; then
    __sa_stdout=$__sa_tty __sa_stderr=$__sa_tty
    __sa_text='\builtin print -n "'"\\e]7711;a$__sa_nonce\\a\"; { \\__sa_rc \$__sa_st; $__sa_text } always { { __sa_close } 2>/dev/null }"
  fi
}

# Has a command run without the driver's functions and variables: see __sa_put_away.
__sa_hide() { __sa_away=1 }

# Puts steps around a command: before it the driver's functions are disabled, and its variables unset; after it, or after
# what has unwound it, they come back from a file.
__sa_put_away() {
  builtin emulate -L zsh
  local code="() { \\builtin return $__sa_st }" text
  local -a names variables
  names=(exit bye ${(k)functions[(I)__sa_*]})
  variables=(${${(k)parameters[(I)__sa_*]}:#__sa_away})
  builtin typeset -p $variables >|"$__sa_dir/hidden"
  text="${__sa_set/'__sa_rc $__sa_st'/$code}$__sa_cmd"
  [[ -n $__sa_set ]] || text="$code && \\builtin true; $text"
  __sa_set=''
  __sa_cmd="{ { \\builtin disable -f $names; \\builtin unset $variables } 2>/dev/null; \\builtin eval ${(qq)text} } "
  __sa_cmd+="always { { \\builtin . ${(qq)__sa_dir}/hidden; \\builtin enable -f $names } 2>/dev/null }"
}

# Interrupted or not, the command is followed by __sa_end. A trace of it must begin inside its redirections, or it goes
# elsewhere; and no function could switch it off.
__sa_text='\builtin set +x; \__sa_next && \builtin true; '
__sa_text+='{ \builtin eval "$__sa_text" <"$__sa_stdin" >"$__sa_stdout" 2>"$__sa_stderr" } '
__sa_text+='always { \__sa_end "$?" "$TRY_BLOCK_INTERRUPT" }'
repeat 16; do print -r -- $__sa_text; done >$__sa_dir/loop
: >|$__sa_dir/variables.0 >|$__sa_dir/variables.1 >|$__sa_dir/settings.0 >|$__sa_dir/settings.1
: >|$__sa_dir/state.0 >|$__sa_dir/state.1 >|$__sa_dir/trap >|$__sa_dir/modes
unsetopt aliases
typeset -gA __sa_options=("${(@kv)options}")
exec <$__sa_dir/loop
syswrite -o $__sa_reports -- "ready 0 0 $PWD"$'\0'
