# The driver that an interactive bash runs instead of reading commands from its terminal. Read by bash as its --rcfile.
#
#   __sa_dir holds two FIFOs: `cmd` (requests in, fd 100) and `ctl` (reports out, fd 101), and per slot N the files
#   N.cmd (the command's text), N.pre and N.post (text around it), N.in (its stdin) and the FIFOs N.out and N.err.
#   A request has a header of 15 characters: `>`, one for the mode, 3 for the slot, 6 for the command's number, 4 for the
#   length of its body. The body is `<`, a nonce of 22 characters and the command's text; without a text, that is in N.cmd.
#   The body is read separately: as long as it is in the pipe, the command has not begun.
#   A report is `nonce exit_code last_background_pid directory`, ended by a NUL.
#
# The user's text is evaluated here at top level, never in a function: `declare` must stay global. Redirections stand
# on the `eval` itself, so that traps and traces of the driver's own commands go to the terminal, where nobody reads.
# What the driver needs is in functions, parsed once, before a user could alias a word of it; builtins are called
# through `builtin`, and a user's function of that name is taken away again (see __sa_end).

# Messages begin with this name (bash 5.0 and later).
BASH_ARGV0=bash
PS1='' PS2='' PS4='+ '
shopt -s expand_aliases execfail
shopt -u checkwinsize
set +o history +o histexpand
unset HISTFILE
# node-pty lets some descriptors of other sessions through: their terminals are nobody else's business.
for __sa_fd in /dev/fd/*; do
  __sa_fd=${__sa_fd##*/}
  if ((__sa_fd > 2 && __sa_fd != 255)); then exec {__sa_fd}>&-; fi
done
unset __sa_fd
# The daemon has died: nothing else ends a sandbox that has started meanwhile, and opening the FIFOs would block for ever.
[[ -t 0 ]] || exit 71
# 71 is EX_OSERR of sysexits.h: the limit of open files may be too low for these numbers.
exec 100<"$__SA_DIR/cmd" 101>"$__SA_DIR/ctl" || exit 71
__sa_dir=$__SA_DIR __sa_tag=$SHELL_ADAPTER_TAG
# The mark of the session, which all processes inherit: see session-mark.ts.
ulimit -S -x "$__SA_MARK" 2>/dev/null
unset __SA_DIR __SA_MARK
: >|"$__sa_dir/modes" >|"$__sa_dir/list"
__sa_in='' __sa_body='' __sa_nonce='' __sa_code='' __sa_st=0 __sa_post='' __sa_set='' __sa_int='' __sa_state=0 __sa_aliases='' __sa_values=''
__sa_held='' __sa_text='' __sa_away='' __sa_whole='' __sa_exit_trap='' __sa_debug='' __sa_monitor='' __sa_kept=''

# `exit` ends the command, not the session: note the code, then unwind to the prompt as Ctrl-C does, from any depth.
# A user's trap on INT is put aside for that moment.
exit() {
  # A trace shows the call alone. The options come back at the end of the function.
  { builtin local -i __sa_last=$?; builtin local - __sa_options=$-; builtin set +x; } 2>/dev/null
  # A trap on DEBUG calls `exit` again before each command of the driver, until the loop takes the trap away. Within a trap
  # the current command is still the one before which it runs.
  [[ -z $__sa_debug ]] || builtin return 0
  [[ $BASH_COMMAND == *BASH_COMMAND* ]] || __sa_debug=1
  __sa_code=$__sa_last
  if [[ $BASHPID != "$$" || -z ${__sa_nonce-} ]]; then builtin exit "${@-$__sa_code}"; fi
  if (($# > 1)); then
    builtin printf 'bash: exit: too many arguments\n' >&2
    __sa_code=1
  elif (($#)); then
    if [[ $1 == ?([-+])+([0-9]) ]]; then
      __sa_code=$(($1 & 255))
    else
      builtin printf 'bash: exit: %s: numeric argument required\n' "$1" >&2
      __sa_code=2
    fi
  fi
  [[ -z $__sa_exit_trap ]] || __sa_run_exit_trap "$__sa_options"
  [[ $__sa_mode != [tuTU] ]] || __sa_close
  builtin trap -p INT >|"$__sa_dir/trap"
  __sa_int=1
  builtin trap - INT
  builtin kill -INT "$$"
  # Still here: inside a trap on INT there is no unwinding. Then the shell ends, and the daemon starts another.
  builtin exit "$__sa_code"
}

# Runs a trap on EXIT that the command has set itself, as the end of a script does; the one from before comes back. Takes
# the options, as in `$-`.
__sa_run_exit_trap() {
  builtin local -a __sa_words
  builtin local "__sa_before=${__sa_exit_trap%-}" __sa_now
  __sa_exit_trap=
  __sa_read_exit_trap __sa_now
  [[ -n $__sa_now && $__sa_now != "$__sa_before" ]] || builtin return 0
  builtin eval "__sa_words=($__sa_now)"
  builtin trap - EXIT
  builtin eval "$__sa_before"
  # The trap is traced as the command is.
  [[ $1 != *x* ]] || __sa_words[2]="{ builtin set -x; __sa_rc $__sa_code; } 2>/dev/null; ${__sa_words[2]}"$'\n{ builtin set +x; } 2>/dev/null'
  __sa_rc "$__sa_code"
  builtin eval "${__sa_words[2]}"
}

# Reads the trap on EXIT into a variable.
__sa_read_exit_trap() {
  builtin trap -p EXIT >|"$__sa_dir/list"
  builtin printf -v "$1" ''
  builtin read -r -d '' "$1" <"$__sa_dir/list" || builtin return 0
}

# Notes the trap on EXIT before a command that may set one and call `exit`.
__sa_note_exit_trap() {
  __sa_read_exit_trap __sa_exit_trap
  __sa_exit_trap+=-
}

__sa_rc() { builtin return "$1"; }

# An error that ends a script only gives up the current command in an interactive shell, and the next line runs. As one
# compound command a text is given up as a whole. The last step, which no trace shows, keeps the exit code: without it,
# the command has ended by such an error. A text that does not parse is left as it is: its first lines run. So is one that
# defines aliases, which have no effect in the same compound command.
__sa_make_whole() {
  [[ -z $__sa_whole && $__sa_cmd != *alias[[:space:]]* ]] || builtin return 0
  __sa_parses "$__sa_cmd" || builtin return 0
  __sa_whole=- __sa_text=$__sa_cmd
  __sa_cmd="{ $__sa_cmd"$'\n{ __sa_whole=$?; } >/dev/null 2>&1\n}'
}

# `bash -c` reads line after line, and ends at a `[[` that does not parse with the exit code of the command before. Keeps that
# code: the lines before the command with the error run first. Takes their number, or more.
__sa_keep_code() {
  builtin local head rest
  builtin local -i n=$1
  builtin local -a lines
  __sa_parses "$__sa_cmd" && builtin return 0
  builtin mapfile -t lines <<<"$__sa_cmd"
  __sa_kept=0
  for ((; n > 0; n--)); do
    builtin printf -v head '%s\n' "${lines[@]:0:n}"
    if __sa_parses "$head"; then
      # Empty lines in the place of the first ones: the error has its own line number.
      builtin printf -v rest '%s\n' "${lines[@]/*/}"
      builtin printf -v rest '%s%s\n' "${rest:0:n}" "${__sa_cmd#"$head"}"
      builtin printf -v __sa_cmd '\\builtin eval %q; { __sa_kept=$?; } >/dev/null 2>&1; \\builtin eval %q' "$head" "$rest"
      builtin return 0
    fi
  done
}

# Whether a text is whole commands.
__sa_parses() {
  if builtin eval "__sa_probe() { :; $1"$'\n}' 2>/dev/null; then
    builtin unset -f __sa_probe
  else
    __sa_reset_parser
    builtin return 1
  fi
}

# After a `[[` that does not parse, bash 5.2 does not parse the next one either, whatever it is.
__sa_reset_parser() { builtin eval '[[ a == a ]]' 2>/dev/null || builtin true; }

# Sets the exit code of a command that was made one.
__sa_end_whole() {
  if [[ $__sa_whole != - ]]; then
    __sa_st=${__sa_code:-$__sa_whole}
  elif [[ -z $__sa_code && $__sa_st == 1 ]]; then
    __sa_st=127
  fi
  __sa_whole=
}

# Has the shell read the command itself, from a file in place of the terminal: traces have one `+` then, and there is no loop
# that `break` could leave. It is one compound command, so that the prompt hook runs after all of it. Not for commands with
# background jobs: an interactive shell reports them on stderr.
__sa_run_apart() {
  [[ $__sa_mode == [oOiI] ]] || builtin return 0
  __sa_make_whole
  builtin local "rest=${__sa_text//[&<>|]&/}" input='<&255' body="$__sa_set$__sa_cmd"
  [[ -n $__sa_whole && $rest != *@(@(alias|coproc|PROMPT_COMMAND|BASH_XTRACEFD)[[:space:]+=]|exec*([[:space:]])\(|function+([[:space:]])exec)* ]] || builtin return 0
  [[ ${rest//&>/} != *'&'* ]] && ! builtin declare -F exec >|/dev/null || builtin return 0
  [[ $__sa_mode == [oO] ]] || builtin printf -v input '<%q' "$__sa_slot.in"
  {
    # Line numbers start at one again. Bash restores LINENO after a simple command, but not after a group's redirection.
    builtin printf '{ \\builtin :; } <<<$((LINENO=0)); '
    if [[ -n $__sa_away ]]; then
      body=$__sa_body
      builtin printf %s "$__sa_away"
      builtin printf '__sa_mode=x; \\__sa_rc "$1"\n' >>"$__sa_dir/hidden"
    else
      builtin printf '__sa_rc %s && \\builtin true; ' "$__sa_st"
    fi
    builtin printf '{ %s\n} %s >%q 2>%q 101>&- 100<&-\n' "$body" "$input" "$__sa_slot.out" "$__sa_slot.err"
  } >|"$__sa_dir/read" || builtin return 0
  # Not by `builtin`, with which redirections do not stay.
  \exec <"$__sa_dir/read"
  __sa_mode=x
}

# Frees the descriptors that a command wants by their numbers. Bash keeps what a redirection replaces in the first free ones
# from 10 on: they are occupied until the redirections of the command are made.
__sa_free_numbers() {
  ! builtin declare -F exec >|/dev/null || builtin return 0
  builtin local fd close=
  for fd in {10..29}; do
    [[ -e /dev/fd/$fd ]] || { builtin eval "\\exec $fd</dev/null"; close+=" $fd>&-"; }
  done
  __sa_cmd="{ \\exec$close; __sa_rc $__sa_st && \\builtin true; } 2>/dev/null; $__sa_cmd"
}

# Runs a command without job control, where `lastpipe` has an effect.
__sa_without_jobs() {
  [[ $- == *m* ]] || builtin return 0
  __sa_monitor=1
  builtin set +m
}

# Has a command run without the driver's functions and variables. They come back from a file: after the command, or at the
# prompt to which it is unwound. No trace shows how.
__sa_hide() {
  # The shell may read a traced command itself: see __sa_run_apart.
  [[ $__sa_held != *x* ]] || __sa_make_whole
  builtin local line verbose='' before=''
  builtin local -a functions
  functions=(exit)
  builtin declare -F >|"$__sa_dir/list"
  while builtin read -r line; do
    [[ $line != 'declare -f __sa_'* ]] || functions+=("${line##* }")
  done <"$__sa_dir/list"
  # With `set -v` the shell shows what it reads.
  [[ $- != *v* ]] || { builtin set +v; verbose='\builtin set -v; '; }
  [[ -z $__sa_held ]] || before="\\builtin set -$__sa_held; "
  [[ $__sa_st == 0 ]] || before+="(\\builtin exit $__sa_st) && \\builtin true; "
  [[ -z $before ]] || before="{ $before} >/dev/null 2>&1; "
  __sa_body=$before$__sa_cmd __sa_set=
  {
    # In POSIX mode `exit` cannot be the name of a function.
    builtin printf '[[ ! -o posix ]] || { \\builtin set +o posix; __sa_posix=1; }\n'
    # Not by `declare`, which the user may have made a function. The command sets __sa_whole.
    for line in "${!__sa_@}"; do
      case $line in
        __sa_whole) builtin printf '__sa_whole=${__sa_whole-%q}\n' "$__sa_whole" ;;
        __sa_body | __sa_away) builtin printf '%s=\n' "$line" ;;
        *) builtin printf '%s=%q\n' "$line" "${!line}" ;;
      esac
    done
    builtin declare -f "${functions[@]}"
    builtin printf '[[ -z ${__sa_posix-} ]] || { \\builtin set -o posix; __sa_posix=; }\n'
    builtin printf '\\builtin unset -v BASH_EXECUTION_STRING\nPROMPT_COMMAND=$__sa_prompt\n\\__sa_rc "$1"\n'
  } >|"$__sa_dir/hidden"
  builtin printf -v PROMPT_COMMAND '{ \\builtin . %q "$?"; } 2>/dev/null; \\builtin eval "$PROMPT_COMMAND"' "$__sa_dir/hidden"
  builtin printf -v __sa_away '{ \\builtin unset -f %s; \\builtin unset -v %s; BASH_EXECUTION_STRING=%q; %s} >/dev/null 2>&1; ' \
    "${functions[*]}" "${!__sa_*}" "${__sa_text:-$__sa_cmd}" "$verbose"
  builtin printf -v __sa_cmd '%s\\builtin eval %q; { \\builtin . %q "$?"; } >/dev/null 2>&1' "$__sa_away" "$__sa_body" "$__sa_dir/hidden"
}

# Marks the end of a command's output on the terminal.
__sa_close() { builtin printf '\e]7711;z%s\a' "$__sa_nonce" >/dev/tty; }

# Notes the terminal's modes and puts them in order, whatever a program has left; `jobs` forgets that it was run.
__sa_tidy() {
  builtin command -p stty -g >>"$__sa_dir/modes"
  builtin command -p stty sane iutf8
  builtin jobs
} 2>/dev/null

# Holds options back that would show in the driver's own doing, or in the environment: they come back with the next
# command.
__sa_hold_options() {
  builtin set -- "${-//[!aux]/}"
  if [[ -z $1 ]]; then
    __sa_set= __sa_held=
  else
    builtin set "+$1"
    __sa_held=$1
    __sa_set="{ builtin set -$1; __sa_rc \"\$__sa_st\" && builtin true; } >/dev/null 2>&1; "
  fi
}

# Takes away functions of the user's that stand before the builtins which the driver calls. In POSIX mode a special
# builtin comes before a function of its name: the one sure way to call unset.
__sa_take_back() {
  POSIXLY_CORRECT=1
  \unset -f builtin enable
  \unset POSIXLY_CORRECT
  \enable builtin printf
}

# After a command, where the fast path of the loop does not suffice: undoes what was for the command alone, and reports.
# Takes the exit status.
__sa_end() {
  [[ $1 != 2 ]] || __sa_reset_parser
  if [[ $-$__sa_held == *[aux]* ]]; then
    __sa_hold_options 2>/dev/null
    # `set -a` has exported what the loop assigned.
    builtin export -n __sa_st __sa_k
  fi
  __sa_st=${__sa_code:-$1} __sa_k= __sa_exit_trap= __sa_text= __sa_away=
  [[ -z $__sa_whole ]] || __sa_end_whole
  [[ -z $__sa_kept || $__sa_st != 2 || -n $__sa_code ]] || __sa_st=$__sa_kept
  __sa_kept=
  case $__sa_mode in
    [tuTU])
      __sa_close
      __sa_tidy
      ;;
    x) \exec <&255 ;;
  esac
  builtin printf -v __sa_k k
  [[ $__sa_k == k ]] || __sa_take_back
  if [[ -n $__sa_int ]]; then
    __sa_int=
    builtin . "$__sa_dir/trap"
  fi
  if [[ -n $__sa_monitor ]]; then
    __sa_monitor=
    builtin set -m
  fi
  if [[ -n $__sa_post ]]; then
    builtin . "$__sa_post"
    __sa_post=
  fi
  # An assignment to a variable that the user has made readonly would end this function.
  if [[ ${PROMPT_COMMAND-}${PS1-}${PS2-} != "$__sa_prompt" ]]; then
    builtin printf -v PROMPT_COMMAND %s "$__sa_prompt"
    builtin printf -v PS1 ''
    builtin printf -v PS2 ''
  fi
  builtin printf '%s %d %s %s\0' "$__sa_nonce" "$__sa_st" "${!:-0}" "${PWD-}" >&101
  __sa_nonce= __sa_code=
  # Forgets finished jobs, as an interactive shell does before its prompt; what it prints goes to the terminal.
  builtin jobs
  # Whatever the command may have disabled.
  [[ $__sa_cmd != *enable* ]] ||
    builtin enable alias builtin command declare enable eval exit export jobs kill mapfile printf read return set shopt trap
}

# Shows variables as comments of the state: the name, the length of the value, and the value in one line.
__sa_show_values() {
  builtin printf '#values %s\n' "$__sa_values"
  while [[ -n $__sa_values ]]; do
    __sa_name=${__sa_values%% *}
    __sa_values=${__sa_values#"$__sa_name"}
    __sa_values=${__sa_values# }
    __sa_name+='[*]'
    [[ -z ${!__sa_name+set} ]] || {
      __sa_value=${!__sa_name-}
      builtin printf '#value %s %d %q\n' "${__sa_name%'[*]'}" "${#__sa_value}" "${__sa_value:0:65536}"
    }
  done
}

# Saves a variable that is not exported, or whose attributes change what is assigned, with them. Takes its name. What `declare -p` says would be evaluated as
# arithmetic, or in other case, if the attribute came before the value: such a value is assigned first. Anything above a
# million characters is left out, and above four millions together.
__sa_save_variable() {
  if [[ -R $1 ]]; then
    builtin declare -p "$1"
    builtin return
  fi
  builtin local -n __sa_ref=$1
  builtin local __sa_flags=${__sa_ref@a} __sa_key __sa_value="${__sa_ref[*]}"
  [[ $__sa_flags != *x* || $__sa_flags == *[cilu]* ]] && ((${#__sa_value} <= 1000000 && (__sa_left -= ${#__sa_value} + 100) > 0)) || builtin return
  if [[ $__sa_flags != *[cilu]* ]]; then
    builtin declare -p "$1"
  else
    if [[ $__sa_flags == *[aA]* ]]; then
      builtin printf 'declare -%s %s=()\n' "${__sa_flags//[!aA]/}" "$1"
      for __sa_key in "${!__sa_ref[@]}"; do
        builtin printf '%s[%q]=%q\n' "$1" "$__sa_key" "${__sa_ref[$__sa_key]}"
      done
    else
      builtin printf '%s=%q\n' "$1" "$__sa_ref"
    fi
    builtin printf 'builtin declare -%s %s\n' "$__sa_flags" "$1"
    # Or `export -p` would have it as well.
    if [[ $__sa_flags == *x* ]]; then
      builtin export -n "$1"
      __sa_hidden+=("$1")
    fi
  fi
}

# Lists the names of all variables in __sa_names. Bash compares each one with all before it, and does so for every prefix
# as well: fifty prefixes are for a bash without programmable completion.
__sa_list_names() {
  if builtin compgen -v >|"$__sa_dir/list"; then
    builtin mapfile -t __sa_names <"$__sa_dir/list"
  else
    __sa_names=(
      "${!A@}" "${!B@}" "${!C@}" "${!D@}" "${!E@}" "${!F@}" "${!G@}" "${!H@}" "${!I@}" "${!J@}" "${!K@}" "${!L@}"
      "${!M@}" "${!N@}" "${!O@}" "${!P@}" "${!Q@}" "${!R@}" "${!S@}" "${!T@}" "${!U@}" "${!V@}" "${!W@}" "${!X@}"
      "${!Y@}" "${!Z@}" "${!a@}" "${!b@}" "${!c@}" "${!d@}" "${!e@}" "${!f@}" "${!g@}" "${!h@}" "${!i@}" "${!j@}"
      "${!k@}" "${!l@}" "${!m@}" "${!n@}" "${!o@}" "${!p@}" "${!q@}" "${!r@}" "${!s@}" "${!t@}" "${!u@}" "${!v@}"
      "${!w@}" "${!x@}" "${!y@}" "${!z@}" "${!_@}"
    )
  fi
}

# Saves the `shopt` options, which functions may need to be parsed, and the variables that are not exported.
__sa_save_variables() {
  builtin local - __sa_name __sa_left=4000000
  builtin local -a __sa_names
  builtin set +eu
  builtin shopt -p
  __sa_list_names
  for __sa_name in "${__sa_names[@]}"; do
    case $__sa_name in
      __sa_* | _ | BASH | BASHOPTS | BASHPID | BASH_* | COLUMNS | COMP_* | DIRSTACK | EPOCH* | EUID | FUNCNAME | GROUPS) ;;
      HISTCMD | HISTFILE | LINENO | LINES | OLDPWD | OPTERR | OPTIND | PIPESTATUS | PPID | PROMPT_COMMAND | PS[012]) ;;
      PWD | RANDOM | SECONDS | SHELLOPTS | SRANDOM | UID) ;;
      *) __sa_save_variable "$__sa_name" ;;
    esac
  done
  builtin printf '#end\n'
}

# Saves the umask, the options, also those that are held back, and the traps, which the loop has noted: a function does
# not see all of them.
__sa_save_settings() {
  builtin umask -p
  builtin set +o
  builtin local - __sa_traps=''
  builtin set +eu
  [[ -z $__sa_held ]] || builtin printf 'builtin set -%s\n' "$__sa_held"
  builtin mapfile -d '' -t -n 1 __sa_traps <"$__sa_dir/trap"
  builtin printf '%s\n#end\n' "${__sa_traps-}"
}

# Saves what a new shell would need, under one of two names in turn, so that one of them is always whole.
__sa_save() {
  __sa_state=$((1 - __sa_state))
  __sa_save_settings >|"$__sa_dir/settings.$__sa_state" 2>/dev/null
  builtin local -a __sa_hidden
  __sa_hidden=()
  __sa_save_variables >|"$__sa_dir/variables.$__sa_state" 2>/dev/null
  { [[ -z $__sa_values ]] || __sa_show_values; builtin export -p; builtin declare -f; builtin alias -p; builtin printf '#options %s\n#end\n' "$-$__sa_held"; } >|"$__sa_dir/state.$__sa_state"
  ((${#__sa_hidden[@]} == 0)) || builtin export "${__sa_hidden[@]}"
}

# Without its text or its pipes there is no command: the daemon, when it is told, kills this shell and starts another.
__sa_lost() {
  builtin printf 'lost 0 0 /\0' >&101
  builtin kill -STOP "$$"
}

# What is left to do from before: a `break` or `continue` of the command has taken the driver's own loop on, or the loop
# has been parsed anew.
__sa_resume() {
  [[ -z $__sa_nonce ]] || __sa_end 0
  if [[ -n $__sa_aliases ]]; then
    __sa_aliases=
    builtin shopt -s expand_aliases execfail
  fi
}

# Serves requests that are no commands, until one comes that is. The state is saved when the daemon asks for it: after
# every command it would cost as much as the command.
__sa_serve() {
  while ((1)); do
    # An interrupt has taken the first character of the body; the last one is a filler of __sa_hook.
    [[ $__sa_body == '<'* ]] || __sa_body="<${__sa_body%?}"
    [[ $__sa_in == '>'[sr]* ]] || builtin return 0
    [[ $__sa_in == '>s'* ]] || __sa_tidy
    __sa_values=${__sa_body:23} __sa_in= __sa_body=
    __sa_save
    builtin read -r -N 15 -u 100 __sa_in || builtin exit 0
    [[ $__sa_in == '>'* ]] || __sa_align
    [[ -n $__sa_body ]] || builtin read -r -N "${__sa_in:11:4}" -u 100 __sa_body || builtin exit 0
  done
}

# Puts a header in order that an interrupt has shifted. An interrupted `read` loses the first character and keeps the
# others for the next one, which then takes one character too many: the first of the body. Fillers of __sa_hook may come
# before a header. Any other header is forged, or more of it is lost.
__sa_align() {
  while [[ $__sa_in == .* ]]; do
    builtin read -r -N 1 -u 100 __sa_body || builtin exit 0
    __sa_in=${__sa_in:1}$__sa_body __sa_body=
  done
  [[ $__sa_in != '>'* ]] || builtin return 0
  [[ $__sa_in == [a-zA-Z][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]'<' ]] || __sa_lost
  __sa_in=">${__sa_in%<}"
  builtin read -r -N "$((10#${__sa_in:11:4} - 1))" -u 100 __sa_body || builtin exit 0
  __sa_body="<$__sa_body"
}

# Runs the text that stands before a command, and has the one after it run.
__sa_surround() {
  [[ $__sa_held != *u* ]] || __sa_make_whole
  # With `shopt -s nocasematch` there may be none.
  if [[ $__sa_mode == [A-Z] && -e $__sa_slot.pre ]]; then
    __sa_post=$__sa_slot.post
    builtin . "$__sa_slot.pre" || builtin return 0
  fi
  [[ $__sa_held != *x* ]] || __sa_run_apart
}

# The prompt hook: at the start, and again whenever an interrupt has unwound the shell to its prompt. The loop must be
# parsed without the user's aliases, which could stand for its keywords.
__sa_hook() {
  if [[ -n ${__sa_nonce-} ]]; then
    # Bash keeps an exit code above 127 from before an interrupt, as of a `read` that has timed out. Not unwound are a command
    # that the shell has read itself, and one that calls `exit`. `break x` unwinds with 128.
    [[ -n $__sa_code || ($__sa_mode == x && $__sa_whole != -) ]] || (($1 <= 128)) || builtin set -- 130
    __sa_end "$1"
  elif [[ -n ${__sa_in-} && -z ${__sa_body-} ]]; then
    # Interrupted before, or while, a body was read. If its first character is lost, the next `read` would wait for one
    # more: see __sa_serve. If not, the filler comes before the next header: see __sa_align.
    builtin printf . >"$__sa_dir/cmd"
  fi
  if builtin shopt -q expand_aliases; then
    __sa_aliases=1
    builtin shopt -u expand_aliases
  fi
}

# The loop: waits for a request, reads the command, evaluates it, and reports; ends the shell when the daemon is gone.
# What every command needs stands here and not in functions, because bash copies a function's body at each call; what is
# rarely needed is in functions. Modes, in capitals when there is text around the command: o stdout and stderr apart, i the
# same with a given stdin, t everything on the terminal, u the same with a given stdin, q end the shell. (s saves the
# state, with the values of the variables that its text names, r restores the terminal's modes too: see __sa_serve.)
# All on one line, the second: the line numbers in messages count on from there. `&& true` keeps the status from before,
# and `set -e` from ending the shell for it.
__sa_loop='[[ -z $__sa_debug ]] || { \builtin trap - DEBUG; __sa_debug=; }
while ((1)); do while '\
'[[ -z $__sa_nonce$__sa_aliases ]] || __sa_resume; '\
'[[ -n $__sa_in ]] || \builtin read -r -N 15 -u 100 __sa_in || \builtin exit 0; '\
'[[ $__sa_in == ">"* ]] || __sa_align; '\
'[[ -n $__sa_body ]] || \builtin read -r -N "${__sa_in:11:4}" -u 100 __sa_body || \builtin exit 0; '\
'[[ $__sa_in == ?[!sr]* && $__sa_body == "<"* ]] || { \builtin trap -p >|"$__sa_dir/trap"; __sa_serve; }; '\
'\builtin export "SHELL_ADAPTER_TAG=$__sa_tag.${__sa_in:5:6}"; '\
'__sa_mode=${__sa_in:1:1} __sa_slot=$__sa_dir/${__sa_in:2:3} __sa_nonce=${__sa_body:1:22} __sa_cmd=${__sa_body:23} __sa_in= __sa_body=; '\
'[[ -p $__sa_slot.out ]] || __sa_lost; '\
'[[ -n $__sa_cmd || $__sa_mode == q ]] || \builtin mapfile -d "" -t -n 1 __sa_cmd <"$__sa_slot.cmd" || __sa_lost; '\
'[[ $__sa_mode != [A-Z] && -z $__sa_held ]] || __sa_surround; '\
'do case $__sa_mode in '\
'[oO]) __sa_rc "$__sa_st" && \builtin true; '\
'\builtin eval "$__sa_set$__sa_cmd" >"$__sa_slot.out" 2>"$__sa_slot.err" 101>&- 100<&- ;; '\
'[iI]) __sa_rc "$__sa_st" && \builtin true; '\
'\builtin eval "$__sa_set$__sa_cmd" <"$__sa_slot.in" >"$__sa_slot.out" 2>"$__sa_slot.err" 101>&- 100<&- ;; '\
'[tT]) \builtin printf "\e]7711;a%s\a" "$__sa_nonce"; __sa_rc "$__sa_st" && \builtin true; '\
'\builtin eval "$__sa_set$__sa_cmd" 1>&2 2>&1 101>&- 100<&-; { __sa_end "$?"; } 2>/dev/null; \builtin continue ;; '\
'[uU]) \builtin printf "\e]7711;a%s\a" "$__sa_nonce"; __sa_rc "$__sa_st" && \builtin true; '\
'\builtin eval "$__sa_set$__sa_cmd" <"$__sa_slot.in" 1>&2 2>&1 101>&- 100<&-; { __sa_end "$?"; } 2>/dev/null; \builtin continue ;; '\
'x) \builtin break 2 ;; '\
'q) \builtin exit 0 101>&- 100<&- ;; esac; '\
'__sa_st=$? __sa_k=; \builtin printf -v __sa_k k; '\
'if [[ $__sa_k$__sa_set$__sa_code$__sa_int$__sa_post == k && $__sa_st != 2 && $- != *[aux]* && $__sa_cmd != *enable* && '\
'${PROMPT_COMMAND-}${PS1-}${PS2-} == "$__sa_prompt" ]]; then '\
'\builtin printf "%s %d %s %s\\0" "$__sa_nonce" "$__sa_st" "${!:-0}" "${PWD-}" >&101; __sa_nonce=; \builtin jobs; '\
'else __sa_end "$__sa_st"; fi; '\
'done; done; [[ $__sa_mode == x ]] || __sa_code=${__sa_code:-0}'
# A `break 9` leaves both loops: the daemon then types a newline, which brings the prompt, and this hook, back.
__sa_prompt='\__sa_hook "$?"; \builtin eval "$__sa_loop"; [[ $__sa_mode == x ]] || \builtin printf "idle 0 0 /\0" >&101'
PROMPT_COMMAND=$__sa_prompt
builtin printf 'ready 0 0 %s\0' "$PWD" >&101
