# Completion of shell-adapter for bash. To load it: source <(shell-adapter completion bash)
_shell_adapter() {
  local cur=${COMP_WORDS[COMP_CWORD]} path='' skip='' i word IFS=$' \t\n'
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -n $skip ]]; then skip=''; continue; fi
    case "$path|$word" in
      '|serve') path='serve' ;;
      '|status') path='status' ;;
      '|stop') path='stop' ;;
      '|restart') path='restart' ;;
      '|exec') path='exec' ;;
      '|check') path='check' ;;
      '|policy') path='policy' ;;
      '|confirm') path='confirm' ;;
      '|open') path='open' ;;
      '|sessions') path='sessions' ;;
      '|top') path='top' ;;
      '|history') path='history' ;;
      '|output') path='output' ;;
      '|attach') path='attach' ;;
      '|screenshot') path='screenshot' ;;
      '|wait') path='wait' ;;
      '|ports') path='ports' ;;
      '|forward') path='forward' ;;
      '|watch') path='watch' ;;
      '|close') path='close' ;;
      '|cp') path='cp' ;;
      '|record') path='record' ;;
      '|recordings') path='recordings' ;;
      '|replay') path='replay' ;;
      '|checkpoint') path='checkpoint' ;;
      '|diff') path='diff' ;;
      '|restore') path='restore' ;;
      '|llm') path='llm' ;;
      '|mcp') path='mcp' ;;
      '|tools') path='tools' ;;
      '|skill') path='skill' ;;
      '|token') path='token' ;;
      '|audit') path='audit' ;;
      '|nodes') path='nodes' ;;
      '|dashboard') path='dashboard' ;;
      '|metadata') path='metadata' ;;
      '|doctor') path='doctor' ;;
      '|config') path='config' ;;
      '|request') path='request' ;;
      '|protocol') path='protocol' ;;
      '|completion') path='completion' ;;
      '|version') path='version' ;;
      'serve|-c'|'serve|--config'|'serve|-w'|'serve|--workspace'|'serve|--host'|'serve|--port') skip=1 ;;
      'status|--url'|'status|-c'|'status|--config'|'status|--token') skip=1 ;;
      'stop|--url'|'stop|-c'|'stop|--config'|'stop|--token') skip=1 ;;
      'restart|--url'|'restart|-c'|'restart|--config'|'restart|--token') skip=1 ;;
      'exec|--url'|'exec|-c'|'exec|--config'|'exec|--token'|'exec|-s'|'exec|--session'|'exec|--cwd'|'exec|--env'|'exec|--timeout'|'exec|--sandbox') skip=1 ;;
      'exec|'[!-]*) path='-' ;;
      'check|--url'|'check|-c'|'check|--config'|'check|--token'|'check|-s'|'check|--session'|'check|--cwd') skip=1 ;;
      'check|'[!-]*) path='-' ;;
      'policy|explain') path='policy_explain' ;;
      'policy_explain|-c'|'policy_explain|--config'|'policy_explain|--cwd'|'policy_explain|--shell'|'policy_explain|--preset') skip=1 ;;
      'policy_explain|'[!-]*) path='-' ;;
      'confirm|--url'|'confirm|-c'|'confirm|--config'|'confirm|--token'|'confirm|-j'|'confirm|--justification'|'confirm|--remember'|'confirm|--revoke') skip=1 ;;
      'open|--url'|'open|-c'|'open|--config'|'open|--token'|'open|--rcfile'|'open|--environment'|'open|--cwd'|'open|--env'|'open|--shell'|'open|--sandbox'|'open|--label') skip=1 ;;
      'sessions|--url'|'sessions|-c'|'sessions|--config'|'sessions|--token') skip=1 ;;
      'top|--url'|'top|-c'|'top|--config'|'top|--token') skip=1 ;;
      'history|--url'|'history|-c'|'history|--config'|'history|--token'|'history|-n'|'history|--limit'|'history|--owner') skip=1 ;;
      'output|--url'|'output|-c'|'output|--config'|'output|--token'|'output|--stream'|'output|--offset'|'output|--bytes'|'output|--from-line'|'output|-n'|'output|--lines'|'output|--last'|'output|--max-line-length') skip=1 ;;
      'output|'[!-]*) path='-' ;;
      'attach|--url'|'attach|-c'|'attach|--config'|'attach|--token'|'attach|--from-seq') skip=1 ;;
      'screenshot|--url'|'screenshot|-c'|'screenshot|--config'|'screenshot|--token'|'screenshot|-o'|'screenshot|--output') skip=1 ;;
      'wait|--url'|'wait|-c'|'wait|--config'|'wait|--token'|'wait|--port'|'wait|--path'|'wait|--command'|'wait|--pattern'|'wait|--stream'|'wait|-s'|'wait|--session'|'wait|--screen-text'|'wait|--screen-still'|'wait|--timeout') skip=1 ;;
      'ports|--url'|'ports|-c'|'ports|--config'|'ports|--token') skip=1 ;;
      'forward|--url'|'forward|-c'|'forward|--config'|'forward|--token'|'forward|--local-port') skip=1 ;;
      'watch|--url'|'watch|-c'|'watch|--config'|'watch|--token'|'watch|-s'|'watch|--session'|'watch|--debounce') skip=1 ;;
      'close|--url'|'close|-c'|'close|--config'|'close|--token') skip=1 ;;
      'cp|--url'|'cp|-c'|'cp|--config'|'cp|--token'|'cp|-s'|'cp|--session') skip=1 ;;
      'record|--url'|'record|-c'|'record|--config'|'record|--token'|'record|--title'|'record|--cwd'|'record|--shell'|'record|--sandbox') skip=1 ;;
      'recordings|--url'|'recordings|-c'|'recordings|--config'|'recordings|--token'|'recordings|--save'|'recordings|--delete') skip=1 ;;
      'replay|--url'|'replay|-c'|'replay|--config'|'replay|--token'|'replay|--speed'|'replay|--idle') skip=1 ;;
      'checkpoint|--url'|'checkpoint|-c'|'checkpoint|--config'|'checkpoint|--token') skip=1 ;;
      'diff|--url'|'diff|-c'|'diff|--config'|'diff|--token') skip=1 ;;
      'restore|--url'|'restore|-c'|'restore|--config'|'restore|--token') skip=1 ;;
      'llm|--url'|'llm|-c'|'llm|--config'|'llm|--token'|'llm|--provider'|'llm|--shell-provider'|'llm|--model'|'llm|--system'|'llm|--timeout') skip=1 ;;
      'mcp|--url'|'mcp|-c'|'mcp|--config'|'mcp|--token'|'mcp|--cwd'|'mcp|--tools') skip=1 ;;
      'tools|--format'|'tools|--tools') skip=1 ;;
      'token|create') path='token_create' ;;
      'token|list') path='token_list' ;;
      'token|revoke') path='token_revoke' ;;
      'token|rotate') path='token_rotate' ;;
      'token_create|-c'|'token_create|--config'|'token_create|--role'|'token_create|--name'|'token_create|--run-as'|'token_create|--expires') skip=1 ;;
      'token_list|-c'|'token_list|--config') skip=1 ;;
      'token_revoke|-c'|'token_revoke|--config') skip=1 ;;
      'token_rotate|-c'|'token_rotate|--config') skip=1 ;;
      'audit|verify') path='audit_verify' ;;
      'audit|tail') path='audit_tail' ;;
      'audit|search') path='audit_search' ;;
      'audit_verify|-c'|'audit_verify|--config'|'audit_verify|--file') skip=1 ;;
      'audit_tail|-c'|'audit_tail|--config'|'audit_tail|--file'|'audit_tail|-n'|'audit_tail|--lines') skip=1 ;;
      'audit_search|-c'|'audit_search|--config'|'audit_search|--file'|'audit_search|--principal'|'audit_search|--session'|'audit_search|--command-id'|'audit_search|--event'|'audit_search|--since'|'audit_search|--until'|'audit_search|--text') skip=1 ;;
      'nodes|list') path='nodes_list' ;;
      'nodes|register') path='nodes_register' ;;
      'nodes|drain') path='nodes_drain' ;;
      'nodes|undrain') path='nodes_undrain' ;;
      'nodes|remove') path='nodes_remove' ;;
      'nodes_list|--url'|'nodes_list|-c'|'nodes_list|--config'|'nodes_list|--token') skip=1 ;;
      'nodes_register|--url'|'nodes_register|-c'|'nodes_register|--config'|'nodes_register|--token'|'nodes_register|--label'|'nodes_register|--capacity') skip=1 ;;
      'nodes_drain|--url'|'nodes_drain|-c'|'nodes_drain|--config'|'nodes_drain|--token') skip=1 ;;
      'nodes_undrain|--url'|'nodes_undrain|-c'|'nodes_undrain|--config'|'nodes_undrain|--token') skip=1 ;;
      'nodes_remove|--url'|'nodes_remove|-c'|'nodes_remove|--config'|'nodes_remove|--token') skip=1 ;;
      'dashboard|--url'|'dashboard|-c'|'dashboard|--config'|'dashboard|--token'|'dashboard|--role'|'dashboard|--for') skip=1 ;;
      'metadata|--url'|'metadata|-c'|'metadata|--config'|'metadata|--token') skip=1 ;;
      'doctor|--url'|'doctor|-c'|'doctor|--config'|'doctor|--token') skip=1 ;;
      'config|check') path='config_check' ;;
      'config|show') path='config_show' ;;
      'config|init') path='config_init' ;;
      'config|trust') path='config_trust' ;;
      'config_show|--url'|'config_show|-c'|'config_show|--config'|'config_show|--token') skip=1 ;;
      'request|--url'|'request|-c'|'request|--config'|'request|--token') skip=1 ;;
      'protocol|--write'|'protocol|--check') skip=1 ;;
    esac
  done
  case "$path|${COMP_WORDS[COMP_CWORD - 1]}" in
    'serve|-c'|'serve|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'serve|-w'|'serve|--workspace') mapfile -t COMPREPLY < <(compgen -d -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'serve|--host') :; return ;;
    'serve|--port') :; return ;;
    'status|--url') :; return ;;
    'status|-c'|'status|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'status|--token') :; return ;;
    'stop|--url') :; return ;;
    'stop|-c'|'stop|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'stop|--token') :; return ;;
    'restart|--url') :; return ;;
    'restart|-c'|'restart|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'restart|--token') :; return ;;
    'exec|--url') :; return ;;
    'exec|-c'|'exec|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'exec|--token') :; return ;;
    'exec|-s'|'exec|--session') :; return ;;
    'exec|--cwd') mapfile -t COMPREPLY < <(compgen -d -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'exec|--env') :; return ;;
    'exec|--timeout') :; return ;;
    'exec|--sandbox') mapfile -t COMPREPLY < <(compgen -W 'none workspace strict' -- "$cur"); return ;;
    'check|--url') :; return ;;
    'check|-c'|'check|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'check|--token') :; return ;;
    'check|-s'|'check|--session') :; return ;;
    'check|--cwd') mapfile -t COMPREPLY < <(compgen -d -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'policy_explain|-c'|'policy_explain|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'policy_explain|--cwd') mapfile -t COMPREPLY < <(compgen -d -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'policy_explain|--shell') mapfile -t COMPREPLY < <(compgen -W 'bash zsh sh fish pwsh' -- "$cur"); return ;;
    'policy_explain|--preset') mapfile -t COMPREPLY < <(compgen -W 'permissive balanced strict' -- "$cur"); return ;;
    'confirm|--url') :; return ;;
    'confirm|-c'|'confirm|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'confirm|--token') :; return ;;
    'confirm|-j'|'confirm|--justification') :; return ;;
    'confirm|--remember') mapfile -t COMPREPLY < <(compgen -W 'session hour always' -- "$cur"); return ;;
    'confirm|--revoke') :; return ;;
    'open|--url') :; return ;;
    'open|-c'|'open|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'open|--token') :; return ;;
    'open|--rcfile') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'open|--environment') :; return ;;
    'open|--cwd') mapfile -t COMPREPLY < <(compgen -d -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'open|--env') :; return ;;
    'open|--shell') :; return ;;
    'open|--sandbox') mapfile -t COMPREPLY < <(compgen -W 'none workspace strict' -- "$cur"); return ;;
    'open|--label') :; return ;;
    'sessions|--url') :; return ;;
    'sessions|-c'|'sessions|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'sessions|--token') :; return ;;
    'top|--url') :; return ;;
    'top|-c'|'top|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'top|--token') :; return ;;
    'history|--url') :; return ;;
    'history|-c'|'history|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'history|--token') :; return ;;
    'history|-n'|'history|--limit') :; return ;;
    'history|--owner') :; return ;;
    'output|--url') :; return ;;
    'output|-c'|'output|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'output|--token') :; return ;;
    'output|--stream') mapfile -t COMPREPLY < <(compgen -W 'stdout stderr' -- "$cur"); return ;;
    'output|--offset') :; return ;;
    'output|--bytes') :; return ;;
    'output|--from-line') :; return ;;
    'output|-n'|'output|--lines') :; return ;;
    'output|--last') :; return ;;
    'output|--max-line-length') :; return ;;
    'attach|--url') :; return ;;
    'attach|-c'|'attach|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'attach|--token') :; return ;;
    'attach|--from-seq') :; return ;;
    'screenshot|--url') :; return ;;
    'screenshot|-c'|'screenshot|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'screenshot|--token') :; return ;;
    'screenshot|-o'|'screenshot|--output') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'wait|--url') :; return ;;
    'wait|-c'|'wait|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'wait|--token') :; return ;;
    'wait|--port') :; return ;;
    'wait|--path') :; return ;;
    'wait|--command') :; return ;;
    'wait|--pattern') :; return ;;
    'wait|--stream') mapfile -t COMPREPLY < <(compgen -W 'stdout stderr' -- "$cur"); return ;;
    'wait|-s'|'wait|--session') :; return ;;
    'wait|--screen-text') :; return ;;
    'wait|--screen-still') :; return ;;
    'wait|--timeout') :; return ;;
    'ports|--url') :; return ;;
    'ports|-c'|'ports|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'ports|--token') :; return ;;
    'forward|--url') :; return ;;
    'forward|-c'|'forward|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'forward|--token') :; return ;;
    'forward|--local-port') :; return ;;
    'watch|--url') :; return ;;
    'watch|-c'|'watch|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'watch|--token') :; return ;;
    'watch|-s'|'watch|--session') :; return ;;
    'watch|--debounce') :; return ;;
    'close|--url') :; return ;;
    'close|-c'|'close|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'close|--token') :; return ;;
    'cp|--url') :; return ;;
    'cp|-c'|'cp|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'cp|--token') :; return ;;
    'cp|-s'|'cp|--session') :; return ;;
    'record|--url') :; return ;;
    'record|-c'|'record|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'record|--token') :; return ;;
    'record|--title') :; return ;;
    'record|--cwd') mapfile -t COMPREPLY < <(compgen -d -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'record|--shell') :; return ;;
    'record|--sandbox') mapfile -t COMPREPLY < <(compgen -W 'none workspace strict' -- "$cur"); return ;;
    'recordings|--url') :; return ;;
    'recordings|-c'|'recordings|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'recordings|--token') :; return ;;
    'recordings|--save') :; return ;;
    'recordings|--delete') :; return ;;
    'replay|--url') :; return ;;
    'replay|-c'|'replay|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'replay|--token') :; return ;;
    'replay|--speed') :; return ;;
    'replay|--idle') :; return ;;
    'checkpoint|--url') :; return ;;
    'checkpoint|-c'|'checkpoint|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'checkpoint|--token') :; return ;;
    'diff|--url') :; return ;;
    'diff|-c'|'diff|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'diff|--token') :; return ;;
    'restore|--url') :; return ;;
    'restore|-c'|'restore|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'restore|--token') :; return ;;
    'llm|--url') :; return ;;
    'llm|-c'|'llm|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'llm|--token') :; return ;;
    'llm|--provider') mapfile -t COMPREPLY < <(compgen -W 'auto shell ollama azure openai litellm' -- "$cur"); return ;;
    'llm|--shell-provider') :; return ;;
    'llm|--model') :; return ;;
    'llm|--system') :; return ;;
    'llm|--timeout') :; return ;;
    'mcp|--url') :; return ;;
    'mcp|-c'|'mcp|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'mcp|--token') :; return ;;
    'mcp|--cwd') mapfile -t COMPREPLY < <(compgen -d -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'mcp|--tools') mapfile -t COMPREPLY < <(compgen -W 'core run files terminal all' -- "$cur"); return ;;
    'tools|--format') mapfile -t COMPREPLY < <(compgen -W 'openai anthropic' -- "$cur"); return ;;
    'tools|--tools') mapfile -t COMPREPLY < <(compgen -W 'core run files terminal all' -- "$cur"); return ;;
    'token_create|-c'|'token_create|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'token_create|--role') mapfile -t COMPREPLY < <(compgen -W 'viewer agent operator admin' -- "$cur"); return ;;
    'token_create|--name') :; return ;;
    'token_create|--run-as') :; return ;;
    'token_create|--expires') :; return ;;
    'token_list|-c'|'token_list|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'token_revoke|-c'|'token_revoke|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'token_rotate|-c'|'token_rotate|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'audit_verify|-c'|'audit_verify|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'audit_verify|--file') :; return ;;
    'audit_tail|-c'|'audit_tail|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'audit_tail|--file') :; return ;;
    'audit_tail|-n'|'audit_tail|--lines') :; return ;;
    'audit_search|-c'|'audit_search|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'audit_search|--file') :; return ;;
    'audit_search|--principal') :; return ;;
    'audit_search|--session') :; return ;;
    'audit_search|--command-id') :; return ;;
    'audit_search|--event') :; return ;;
    'audit_search|--since') :; return ;;
    'audit_search|--until') :; return ;;
    'audit_search|--text') :; return ;;
    'nodes_list|--url') :; return ;;
    'nodes_list|-c'|'nodes_list|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'nodes_list|--token') :; return ;;
    'nodes_register|--url') :; return ;;
    'nodes_register|-c'|'nodes_register|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'nodes_register|--token') :; return ;;
    'nodes_register|--label') :; return ;;
    'nodes_register|--capacity') :; return ;;
    'nodes_drain|--url') :; return ;;
    'nodes_drain|-c'|'nodes_drain|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'nodes_drain|--token') :; return ;;
    'nodes_undrain|--url') :; return ;;
    'nodes_undrain|-c'|'nodes_undrain|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'nodes_undrain|--token') :; return ;;
    'nodes_remove|--url') :; return ;;
    'nodes_remove|-c'|'nodes_remove|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'nodes_remove|--token') :; return ;;
    'dashboard|--url') :; return ;;
    'dashboard|-c'|'dashboard|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'dashboard|--token') :; return ;;
    'dashboard|--role') mapfile -t COMPREPLY < <(compgen -W 'viewer agent operator admin' -- "$cur"); return ;;
    'dashboard|--for') :; return ;;
    'metadata|--url') :; return ;;
    'metadata|-c'|'metadata|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'metadata|--token') :; return ;;
    'doctor|--url') :; return ;;
    'doctor|-c'|'doctor|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'doctor|--token') :; return ;;
    'config_show|--url') :; return ;;
    'config_show|-c'|'config_show|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'config_show|--token') :; return ;;
    'request|--url') :; return ;;
    'request|-c'|'request|--config') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'request|--token') :; return ;;
    'protocol|--write') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
    'protocol|--check') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
  esac
  case $path in
    '')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-v --version -h --help' -- "$cur"); else mapfile -t COMPREPLY < <(compgen -W 'serve status stop restart exec check policy confirm open sessions top history output attach screenshot wait ports forward watch close cp record recordings replay checkpoint diff restore llm mcp tools skill token audit nodes dashboard metadata doctor config request protocol completion version help' -- "$cur"); fi ;;
    'serve')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-c --config -w --workspace --host --port --example --no-example -h --help' -- "$cur"); else :; fi ;;
    'status')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --json -h --help' -- "$cur"); else :; fi ;;
    'stop')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token -h --help' -- "$cur"); else :; fi ;;
    'restart')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token -h --help' -- "$cur"); else :; fi ;;
    'exec')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token -s --session --cwd --env --timeout --sandbox -t --tty -n --no-stdin --merge -q --quiet --json -h --help' -- "$cur"); else mapfile -t COMPREPLY < <(compgen -c -- "$cur"); fi ;;
    'check')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token -s --session --cwd --json -h --help' -- "$cur"); else mapfile -t COMPREPLY < <(compgen -c -- "$cur"); fi ;;
    'policy')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help' -- "$cur"); else mapfile -t COMPREPLY < <(compgen -W 'explain help' -- "$cur"); fi ;;
    'policy_explain')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-c --config --cwd --shell --preset --json -h --help' -- "$cur"); else mapfile -t COMPREPLY < <(compgen -c -- "$cur"); fi ;;
    'confirm')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --approve --reject -j --justification --remember --remembered --revoke -w --watch --json -h --help' -- "$cur"); else :; fi ;;
    'open')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --login --rcfile --environment --cwd --env --shell --sandbox --label --json -h --help' -- "$cur"); else :; fi ;;
    'sessions')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token -w --watch --json -h --help' -- "$cur"); else :; fi ;;
    'top')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --once --json -h --help' -- "$cur"); else :; fi ;;
    'history')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token -n --limit --owner --running --json -h --help' -- "$cur"); else :; fi ;;
    'output')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --stream --offset --bytes --from-line -n --lines --last --max-line-length --json -h --help' -- "$cur"); else mapfile -t COMPREPLY < <(compgen -c -- "$cur"); fi ;;
    'attach')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --from-seq --input --observe --json -h --help' -- "$cur"); else :; fi ;;
    'screenshot')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token -o --output --json -h --help' -- "$cur"); else :; fi ;;
    'wait')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --port --path --command --pattern --stream -s --session --screen-text --screen-still --regex --timeout --json -h --help' -- "$cur"); else :; fi ;;
    'ports')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --json -h --help' -- "$cur"); else :; fi ;;
    'forward')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --local-port -h --help' -- "$cur"); else :; fi ;;
    'watch')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token -r --recursive -s --session --debounce --json -h --help' -- "$cur"); else :; fi ;;
    'close')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --all --json -h --help' -- "$cur"); else :; fi ;;
    'cp')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token -r --recursive -s --session -h --help' -- "$cur"); else :; fi ;;
    'record')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --title --cwd --shell --sandbox -h --help' -- "$cur"); else mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; fi ;;
    'recordings')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --save --delete -y --yes --json -h --help' -- "$cur"); else :; fi ;;
    'replay')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --speed --idle -h --help' -- "$cur"); else :; fi ;;
    'checkpoint')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --list --json -h --help' -- "$cur"); else :; fi ;;
    'diff')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --stat -p --patch --json -h --help' -- "$cur"); else :; fi ;;
    'restore')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --json -h --help' -- "$cur"); else :; fi ;;
    'llm')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --list --provider --shell-provider --model --system --timeout -n --no-stdin --stream --json -h --help' -- "$cur"); else :; fi ;;
    'mcp')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --cwd --tools --start -h --help' -- "$cur"); else :; fi ;;
    'tools')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--format --tools -h --help' -- "$cur"); else :; fi ;;
    'skill')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help' -- "$cur"); else :; fi ;;
    'token')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help' -- "$cur"); else mapfile -t COMPREPLY < <(compgen -W 'create list revoke rotate help' -- "$cur"); fi ;;
    'token_create')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-c --config --json --role --name --run-as --expires -h --help' -- "$cur"); else :; fi ;;
    'token_list')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-c --config --json -h --help' -- "$cur"); else :; fi ;;
    'token_revoke')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-c --config --json -h --help' -- "$cur"); else :; fi ;;
    'token_rotate')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-c --config --json -h --help' -- "$cur"); else :; fi ;;
    'audit')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help' -- "$cur"); else mapfile -t COMPREPLY < <(compgen -W 'verify tail search help' -- "$cur"); fi ;;
    'audit_verify')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-c --config --file --json -h --help' -- "$cur"); else :; fi ;;
    'audit_tail')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-c --config --file --json -n --lines -f --follow -h --help' -- "$cur"); else :; fi ;;
    'audit_search')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-c --config --file --json --principal --session --command-id --event --since --until --text -h --help' -- "$cur"); else :; fi ;;
    'nodes')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help' -- "$cur"); else mapfile -t COMPREPLY < <(compgen -W 'list register drain undrain remove help' -- "$cur"); fi ;;
    'nodes_list')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --json -h --help' -- "$cur"); else :; fi ;;
    'nodes_register')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --json --label --capacity -h --help' -- "$cur"); else :; fi ;;
    'nodes_drain')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --json --self --wait -h --help' -- "$cur"); else :; fi ;;
    'nodes_undrain')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --json -h --help' -- "$cur"); else :; fi ;;
    'nodes_remove')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --json -h --help' -- "$cur"); else :; fi ;;
    'dashboard')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --role --for --print -h --help' -- "$cur"); else :; fi ;;
    'metadata')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --json -h --help' -- "$cur"); else :; fi ;;
    'doctor')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --json -h --help' -- "$cur"); else :; fi ;;
    'config')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help' -- "$cur"); else mapfile -t COMPREPLY < <(compgen -W 'check show init trust help' -- "$cur"); fi ;;
    'config_check')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--json -h --help' -- "$cur"); else mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; fi ;;
    'config_show')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token --json -h --help' -- "$cur"); else :; fi ;;
    'config_init')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--force -h --help' -- "$cur"); else :; fi ;;
    'config_trust')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--list --revoke --json -h --help' -- "$cur"); else mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; fi ;;
    'request')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--url -c --config --token -h --help' -- "$cur"); else :; fi ;;
    'protocol')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '--write --check -h --help' -- "$cur"); else :; fi ;;
    'completion')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help' -- "$cur"); else mapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- "$cur"); fi ;;
    'version')
      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '-h --help' -- "$cur"); else :; fi ;;
    '-') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null ;;
  esac
}
complete -F _shell_adapter shell-adapter
