# The driver that an interactive POSIX sh (dash, BusyBox ash) runs instead of reading commands from its terminal: its
# standard input becomes the FIFO `cmd`, and every request is a line of shell text. Whatever ends a command, the shell
# comes back to its own command loop and reads the next line there; so no line may be needed to bring it back.
#
#   A request's line sources N.cmd, a file of one line (see sh.ts): __sa_in, the command, __sa_end. Before the command
#   runs, __sa_in writes a line to `cmd` itself. The shell reads it next, and reports if __sa_end has not.
#   __sa_dir, the files N.* in it and the report, written to the FIFO `ctl`, are those of driver.bash.
#
# The command is evaluated at top level, so that `set --` stays, and in a sourced file, so that `return` ends no more
# than it. An interrupt while a line is read would lose it: SIGINT is ignored but while a command runs, and what traps
# the user has set is kept in a file meanwhile.
# No descriptor is held: sh can name only 0 to 9, which are the user's.

PS1='' PS2='' PS4='+ '
__sa_dir=$__SA_DIR __sa_tag=$SHELL_ADAPTER_TAG
# The mark of the session, which all processes inherit: see session-mark.ts.
ulimit -S -w "$__SA_MARK" 2>/dev/null || :
# Bash, which has started this shell, leaves `_`.
unset __SA_DIR __SA_MARK _
__sa_mode='' __sa_slot='' __sa_nonce='' __sa_code='' __sa_st=0 __sa_set='' __sa_hiding='' __sa_env='' __sa_post='' __sa_int='' __sa_exit_trap='' __sa_state=0

# The alias `exit` ends the command, not the session: it notes the code, then unwinds as Ctrl-C does, from any depth. A
# user's trap on INT is put aside for that moment. In a subshell, whose process id only /proc tells, it is the builtin.
__sa_exit() {
  __sa_code=$?
  command read -r __sa_pid 2>/dev/null </proc/self/stat || __sa_pid=$(exec sh -c 'echo $PPID')
  case $__sa_nonce/${__sa_pid%% *} in
    ?*/"$$") ;;
    *) exit "${1-$__sa_code}" ;;
  esac
  case ${1-$__sa_code} in
    '' | *[!0-9]*)
      command printf 'sh: exit: Illegal number: %s\n' "$1" >&2
      __sa_code=2
      ;;
    *) __sa_code=$((${1-$__sa_code} & 255)) ;;
  esac
  command trap >|"$__sa_dir/trap"
  case $__sa_exit_trap in ?*) __sa_run_exit_trap ;; esac
  __sa_int=1
  # The shell prints a newline when it is interrupted, which is not the command's.
  case $__sa_mode in [tuTU]) __sa_close ;; esac
  trap - INT
  command kill -INT "$$"
  # Still here: a trap on INT does not unwind. Then the shell ends, and the daemon starts another.
  exit "$__sa_code"
}

# Runs a trap on EXIT that the command has set itself, as the end of a script does; the one from before comes back.
__sa_run_exit_trap() {
  __sa_line=${__sa_exit_trap#-} __sa_exit_trap=''
  set -- "$__sa_line"
  __sa_read_exit_trap
  case $__sa_trap in '' | "$1") return 0 ;; esac
  trap - EXIT
  command eval "$1"
  command trap >|"$__sa_dir/trap"
  command eval "set -- ${__sa_trap#trap -- }"
  __sa_rc "$__sa_code" && :
  command eval "$1"
}

# Reads the trap on EXIT from the list in the file `trap`, which begins with it, as a command; empty for none.
__sa_read_exit_trap() {
  __sa_trap=''
  while IFS='' command read -r __sa_line; do
    __sa_trap=$__sa_trap$__sa_line
    if command eval "\\command : $__sa_trap" 2>/dev/null; then break; fi
    __sa_trap="$__sa_trap
"
  done <"$__sa_dir/trap"
  case $__sa_trap in 'trap -- '*' EXIT') ;; *) __sa_trap='' ;; esac
}

__sa_rc() { return "$1"; }

# Marks the end of a command's output on the terminal.
__sa_close() { command printf '\033]7711;z%s\007' "$__sa_nonce" >/dev/tty; }

# Notes the terminal's modes and puts them in order, whatever a program has left.
__sa_tidy() {
  command -p stty -g <&1 >>"$__sa_dir/modes" || :
  command -p stty sane iutf8 <&1 || :
} 2>/dev/null

# Before a command: takes mode, slot, number and nonce.
__sa_in() {
  command printf '%s\n' '\__sa_late "$?"' >"$__sa_dir/cmd"
  __sa_mode=$1 __sa_slot=$__sa_dir/$2 __sa_nonce=$4 __sa_code=''
  command export "SHELL_ADAPTER_TAG=$__sa_tag.$3"
  case $1 in [OITU])
    __sa_post=$__sa_slot.post
    . "$__sa_slot.pre"
    ;;
  esac
  case $1 in [tuTU]) command printf '\033]7711;a%s\007' "$__sa_nonce" ;; esac
  case $__sa_cmd in *trap*exit*)
    __sa_read_exit_trap
    __sa_exit_trap=-$__sa_trap
    ;;
  esac
  trap - INT
  if [ -s "$__sa_dir/trap" ]; then . "$__sa_dir/trap"; fi
}

# Puts the driver's variables and its alias aside for a command that shows names: see sh.ts. Takes the exit status.
__sa_hide() {
  command set >|"$__sa_dir/hidden"
  command unalias exit
  while IFS='' command read -r __sa_line; do
    case $__sa_line in __sa_*=*) command unset "${__sa_line%%=*}" ;; esac
  done <"$__sa_dir/hidden"
  unset __sa_line
  return "$1"
}

# Brings them back. `__sa_home` sets __sa_dir.
__sa_back() {
  case ${__sa_dir-} in ?*) return 0 ;; esac
  __sa_home
  __sa_take_variables own <"$__sa_dir/hidden"
}

# After a command: undo what was for it alone, tell the daemon, and make the shell deaf to interrupts again.
__sa_end() {
  unset -f command
  __sa_back
  case $- in *[ax]*) __sa_hold_options ;; *) __sa_set='' ;; esac
  __sa_st=${__sa_code:-$1} __sa_hiding=''
  case $__sa_mode in [tuTU])
    __sa_close
    __sa_tidy
    ;;
  esac
  case $__sa_int in ?*)
    __sa_int=''
    . "$__sa_dir/trap"
    ;;
  esac
  case $__sa_post in ?*)
    . "$__sa_post"
    __sa_post='' __sa_env=''
    ;;
  esac
  command printf '%s %s %s %s\0' "$__sa_nonce" "$__sa_st" "${!:-0}" "${PWD-}" >"$__sa_dir/ctl"
  __sa_nonce='' __sa_code='' __sa_exit_trap=''
  command trap >|"$__sa_dir/trap"
  trap '' INT
  command alias exit=__sa_exit
  PS1='' PS2=''
}

# Options that would show in the driver's own doing, or in the environment: they come back with the next command.
__sa_hold_options() {
  case $- in
    *a*x* | *x*a*) set -- ax ;;
    *a*) set -- a ;;
    *) set -- x ;;
  esac
  set "+$1"
  __sa_set="{ \\set -$1; \\__sa_rc \"\$__sa_st\" && :; } 2>/dev/null; "
}

# At the beginning of every line: reports if the last command was cut short.
__sa_late() {
  __sa_back
  case $__sa_nonce in ?*) __sa_end "$1" ;; esac
}

# Saves what a new shell would need, under one of two names in turn, so that one of them is always whole. There is no
# way to list functions: of the names that others rely on, it says what they are (those of health/facts.ts).
__sa_save() {
  __sa_state=$((1 - __sa_state))
  {
    command set
    command printf '#end\n'
  } >|"$__sa_dir/variables.$__sa_state"
  {
    command printf 'umask '
    command umask
    command readonly -p
    while IFS='' command read -r __sa_line; do
      command printf '%s\n' "$__sa_line"
    done <"$__sa_dir/trap"
    case $- in *m*) ;; *) command printf 'set +m\n' ;; esac
    __sa_line=${__sa_set#*-}
    case $__sa_line in ?*) command printf 'set -%s\n' "${__sa_line%%;*}" ;; esac
    for __sa_line in C f u v e; do
      case $- in *"$__sa_line"*) command printf 'set -%s\n' "$__sa_line" ;; esac
    done
    command printf '#end\n'
  } >|"$__sa_dir/settings.$__sa_state"
  # Some of these may not be there, for which `set -e` must not end the shell.
  command type ls cat cp mv rm mkdir grep sed env cd echo printf test [ pwd export read find git sudo >|"$__sa_dir/list" 2>&1 || :
  {
    command printf ":  <<'#types'\n"
    __sa_indent
    command printf '#types\n'
    command export -p
    command printf '#options %s\n' "$-"
    command printf '%s\n' "__sa_take_aliases <<'#end'"
    command alias >|"$__sa_dir/list"
    __sa_indent
    command printf '#end\n'
  } >|"$__sa_dir/state.$__sa_state"
}

# Prints a list with a space before each line, so that no line of an alias ends the here-document that it is in.
__sa_indent() {
  while IFS='' command read -r __sa_line; do
    command printf ' %s\n' "$__sa_line"
  done <"$__sa_dir/list"
}

# Takes a list of variables from standard input as `set` prints it, name='value', where a value may have several lines: a line is complete
# when all quotes in it are closed, and nothing in quotes is evaluated. What is exported follows in the main part. With
# `own` as its argument, it takes the driver's variables alone.
__sa_take_variables() {
  __sa_alias=''
  while IFS='' command read -r __sa_line; do
    __sa_alias="$__sa_alias$__sa_line"
    if command eval "\\command : $__sa_alias" 2>/dev/null; then
      case ${1-}$__sa_alias in
        own__sa_*=*) command eval "$__sa_alias" ;;
        own* | __sa_*=* | LINENO=* | OLDPWD=* | OPTIND=* | PPID=* | PS[124]=* | PWD=* | SHELL_ADAPTER_TAG=* | _=*) ;;
        *) command eval "$__sa_alias" ;;
      esac
      __sa_alias=''
    else
      __sa_alias="$__sa_alias
"
    fi
  done
}

# Takes a list of aliases as `alias` prints it, name='value', with a space before each line. Name and value may have
# several lines; a name, which is not quoted, has no `=` but as its first character. Neither is evaluated.
__sa_take_aliases() {
  __sa_alias=''
  while IFS='' command read -r __sa_line; do
    __sa_alias=$__sa_alias${__sa_line#?}
    case $__sa_alias in ?*=[\'\"]*)
      __sa_line=${__sa_alias#?}
      __sa_name=${__sa_alias%"$__sa_line"}${__sa_line%%=*}
      __sa_line=${__sa_line#*=}
      if command eval "\\command : $__sa_line" 2>/dev/null; then
        command eval "\\command alias \"\$__sa_name\"=$__sa_line"
        __sa_alias=''
        continue
      fi
      ;;
    esac
    __sa_alias="$__sa_alias
"
  done
}

# Files that are written under whatever umask the user sets later.
: >|"$__sa_dir/variables.0"
: >|"$__sa_dir/variables.1"
: >|"$__sa_dir/settings.0"
: >|"$__sa_dir/settings.1"
: >|"$__sa_dir/state.0"
: >|"$__sa_dir/state.1"
: >|"$__sa_dir/list"
: >|"$__sa_dir/trap"
: >|"$__sa_dir/modes"
command alias exit=__sa_exit
trap '' INT
# The daemon has died: nothing else ends a sandbox that has started meanwhile, and opening the FIFOs would block for ever.
[ -t 0 ] || exit 71
exec <"$__sa_dir/cmd"
command printf 'ready 0 0 %s\0' "$PWD" >"$__sa_dir/ctl"
