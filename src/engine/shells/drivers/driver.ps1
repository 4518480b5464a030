# The driver that an interactive pwsh, 7.4 or later, runs before it reads commands from its terminal.
#
#   A request is 33 bytes in the FIFO `cmd`: mode, slot (3), number (6), nonce (22) and a newline. The command is in N.cmd.
#   The other files N.* and the report, written to the FIFO `ctl`, are those of driver.bash. The state begins with names in
#   comments, as that of driver.fish does.
#
# pwsh asks the function PSConsoleHostReadLine for its next line, and runs that line as if it had been typed: an interrupt
# ends the line, and pwsh asks again. So no line is needed to bring the driver back. The line is always the same: it sources
# command.ps1, which runs the command at top level. `exit` ends no more than that file.
# Before it asks, pwsh calls `prompt`: what a command has printed is complete then, and the command is reported. Each step
# of the driver may be cut short by an interrupt, after any statement. It is repeated then, so it changes what it is about
# in its last statement alone.
#
# Programs write to the descriptors 1 and 2 of pwsh, which are connected to the FIFOs of the command meanwhile. Cmdlets
# write to the console's writers. pwsh itself would write errors to stdout: the function Out-Default writes them to stderr.
# pwsh starts with stdout at /dev/null and TERM=dumb: else it writes control sequences, and asks the terminal for the
# position of the cursor before each line.
# Functions come before cmdlets, and aliases before both: the driver uses .NET, and cmdlets by their full names.

# 71 is EX_OSERR of sysexits.h. The daemon has died: opening the FIFOs would block for ever.
if ([Console]::IsInputRedirected) { [Environment]::Exit(71) }

# Gives the dup2(2) of the C library, which .NET has no function for.
function global:__sa_libc {
    $name = [System.Reflection.AssemblyName]::new('__sa')
    $assembly = [System.Reflection.Emit.AssemblyBuilder]::DefineDynamicAssembly($name, 'Run')
    $type = $assembly.DefineDynamicModule('__sa').DefineType('__sa_libc', 'Public, Abstract, Sealed')
    $arguments = [Type[]] @([int], [int])
    $method = $type.DefinePInvokeMethod(
        'dup2', 'libc', 'Public, Static, PinvokeImpl', 'Standard', [int], $arguments, 'Cdecl', 'Ansi')
    $method.SetImplementationFlags('PreserveSig')
    $type.CreateType()
}

Microsoft.PowerShell.Utility\Set-Variable -Name __sa -Scope Global -Option Constant -Value @{
    Dir = $env:__SA_DIR
    Tag = $env:SHELL_ADAPTER_TAG
    Libc = (__sa_libc)
    # The path of command.ps1, in single quotes.
    Command = "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent("$PSScriptRoot/command.ps1") + "'"
    Utf8 = [System.Text.UTF8Encoding]::new($false)
    # Held open: the daemon knows the driver by it. Commands do not inherit it.
    Report = [System.IO.FileStream]::new("$env:__SA_DIR/ctl", 'Open', 'Write', 'ReadWrite', 1)
    # The request that is read or runs.
    Request = $null
    IsReady = $false
    # Whether pwsh waits for the line that this driver gives it.
    IsAsked = $false
    State = 0
    Names = @{}
}

# Sets a variable of the environment, or removes it. ($null would be an empty text to .NET.)
function global:__sa_export([string] $name, $value) {
    if ($null -eq $value) { $value = [NullString]::Value }
    [Environment]::SetEnvironmentVariable($name, $value)
}
__sa_export 'TERM' $env:__SA_TERM
__sa_export '__SA_DIR' $null
__sa_export '__SA_TERM' $null

# Suggestions after an error would go to stdout.
function global:__sa_be_terse {
    $kind = [System.Management.Automation.Subsystem.SubsystemKind]::FeedbackProvider
    foreach ($each in @([System.Management.Automation.Subsystem.SubsystemManager]::GetSubsystemInfo($kind).Implementations)) {
        [System.Management.Automation.Subsystem.SubsystemManager]::UnregisterSubsystem($kind, $each.Id)
    }
}
__sa_be_terse

# Connects a descriptor of pwsh to a file; programs inherit it.
function global:__sa_connect([int] $descriptor, [string] $path, [string] $access) {
    $libc = $global:__sa.Libc
    $handle = [System.IO.File]::OpenHandle($path, 'Open', $access, 'ReadWrite', 'None', 0)
    [void] $libc::dup2($handle.DangerousGetHandle().ToInt32(), $descriptor)
    $handle.Dispose()
}

# A writer to what a descriptor is connected to now, for cmdlets.
function global:__sa_writer([System.IO.Stream] $stream) {
    $writer = [System.IO.StreamWriter]::new($stream, $global:__sa.Utf8, 4096)
    $writer.AutoFlush = $true
    $writer
}

# Writes to the terminal, wherever stdout goes.
function global:__sa_terminal([string] $text) {
    $stream = [System.IO.FileStream]::new('/dev/tty', 'Open', 'Write', 'ReadWrite', 1)
    $bytes = $global:__sa.Utf8.GetBytes($text)
    $stream.Write($bytes, 0, $bytes.Length)
    $stream.Dispose()
}

# Between commands nothing is shown.
function global:__sa_silence {
    [Console]::SetOut([System.IO.TextWriter]::Null)
    [Console]::SetError([System.IO.TextWriter]::Null)
    __sa_connect 1 '/dev/null' 'Write'
    __sa_connect 2 '/dev/null' 'Write'
}

# Connects what the command reads and writes.
function global:__sa_attach($request) {
    $path = "$($global:__sa.Dir)/$($request.Slot)"
    if ($request.OnTerminal) {
        __sa_connect 1 '/dev/tty' 'Write'
        __sa_connect 2 '/dev/tty' 'Write'
        __sa_terminal "`e]7711;a$($request.Nonce)`a"
    } else {
        __sa_connect 1 "$path.out" 'Write'
        __sa_connect 2 "$path.err" 'Write'
    }
    if ($request.HasInput) {
        __sa_connect 0 "$path.in" 'Read'
        $request.TerminalIn = [Console]::In
        # The console's own stream would read lines of the terminal.
        $stream = [System.IO.FileStream]::new("$path.in", 'Open', 'Read', 'ReadWrite', 4096)
        $request.In = [System.IO.StreamReader]::new($stream, $global:__sa.Utf8)
        [Console]::SetIn($request.In)
    }
    $request.Out = __sa_writer ([Console]::OpenStandardOutput())
    $request.Err = __sa_writer ([Console]::OpenStandardError())
    [Console]::SetOut($request.Out)
    [Console]::SetError($request.Err)
}

# The opposite. A FIFO that stays open would seem to be that of a background job.
function global:__sa_detach($request) {
    if ($request.HasInput) { __sa_connect 0 '/dev/tty' 'ReadWrite' }
    if ($null -ne $request.TerminalIn) { [Console]::SetIn($request.TerminalIn) }
    __sa_silence
    foreach ($each in $request.In, $request.Out, $request.Err) { if ($null -ne $each) { $each.Dispose() } }
    if ($request.OnTerminal) {
        __sa_terminal "`e]7711;z$($request.Nonce)`a"
        __sa_tidy
    }
}

# Notes the terminal's modes and puts them in order, whatever a program has left.
function global:__sa_tidy {
    $start = [System.Diagnostics.ProcessStartInfo]::new('/bin/sh')
    foreach ($word in '-c', 'stty -g >>"$0"; stty sane iutf8', "$($global:__sa.Dir)/modes") { $start.ArgumentList.Add($word) }
    [System.Diagnostics.Process]::Start($start).WaitForExit()
}

# Sets a variable for this command alone.
function global:__sa_env([string] $name, [string] $value) {
    $request = $global:__sa.Request
    $request.Undo.Push(@{ Name = $name; Value = [Environment]::GetEnvironmentVariable($name) })
    __sa_export $name $value
}

# Enters a directory for this command alone; without it, the command does not run.
function global:__sa_enter([string] $path) {
    $request = $global:__sa.Request
    if (-not [System.IO.Directory]::Exists($path)) {
        $request.Refusal = "${path}: cannot enter the directory"
        return
    }
    $request.Undo.Push(@{ Path = $ExecutionContext.SessionState.Path.CurrentLocation.Path })
    try {
        Microsoft.PowerShell.Management\Set-Location -LiteralPath $path -ErrorAction Stop
    } catch {
        $request.Refusal = "${path}: cannot enter the directory"
    }
}

# Finds a program.
function global:__sa_program([string] $name) {
    $program = $ExecutionContext.InvokeCommand.GetCommand($name, 'Application')
    if ($null -eq $program) { throw "${name}: no such program" }
    $program
}

function global:__sa_undo($request) {
    while ($request.Undo.Count -gt 0) {
        $step = $request.Undo.Peek()
        if ($step.ContainsKey('Name')) { __sa_export $step.Name $step.Value }
        else { Microsoft.PowerShell.Management\Set-Location -LiteralPath $step.Path -ErrorAction Ignore }
        [void] $request.Undo.Pop()
    }
}

# Reads the next request, of which the nonce stays in the FIFO until the rest is read.
function global:__sa_take {
    $sa = $global:__sa
    if ($null -eq $sa.Request) { $sa.Request = @{ Bytes = [byte[]]::new(33); Length = 0; HasBegun = $false } }
    # Opened for each request: the daemon sees by this that no command runs.
    $stream = [System.IO.FileStream]::new("$($sa.Dir)/cmd", 'Open', 'Read', 'ReadWrite', 1)
    try {
        while ($sa.Request.Length -lt 33) {
            $end = if ($sa.Request.Length -lt 10) { 10 } else { 33 }
            $before = $sa.Request.Length
            $sa.Request.Length += $stream.Read($sa.Request.Bytes, $before, $end - $before)
            # The daemon has closed it.
            if ($sa.Request.Length -eq $before) { return $false }
        }
    } finally {
        $stream.Dispose()
    }
    $true
}

function global:__sa_parse_request($request) {
    $text = [System.Text.Encoding]::ASCII.GetString($request.Bytes)
    $request.Mode = $text.Substring(0, 1)
    $request.Slot = $text.Substring(1, 3)
    $request.Number = $text.Substring(4, 6)
    $request.Nonce = $text.Substring(10, 22)
    $request.OnTerminal = 'tuTU'.Contains($request.Mode)
    $request.HasInput = 'iuIU'.Contains($request.Mode)
    foreach ($name in 'TerminalIn', 'In', 'Out', 'Err', 'Refusal', 'Block', 'Last', 'Ok', 'After', 'Left', 'Code') { $request[$name] = $null }
    $request.Undo = [System.Collections.Stack]::new()
    $request.Error = if ($global:Error.Count -gt 0) { $global:Error[0] }
}

# Connects and compiles a command. Gives whether it can run; the reason for the opposite is on stderr.
function global:__sa_begin($request) {
    $sa = $global:__sa
    __sa_parse_request $request
    $request.HasBegun = $true
    $path = "$($sa.Dir)/$($request.Slot)"
    $text = [System.IO.File]::ReadAllText("$path.cmd")
    __sa_export 'SHELL_ADAPTER_TAG' "$($sa.Tag).$($request.Number)"
    __sa_attach $request
    if ([char]::IsUpper($request.Mode[0])) { . ([scriptblock]::Create([System.IO.File]::ReadAllText("$path.pre"))) }
    if ($null -ne $request.Refusal) {
        [Console]::Error.WriteLine($request.Refusal)
        $request.Code = 126
        return $false
    }
    __sa_compile $request $text
}

# Programs set LASTEXITCODE to an int: a long shows that none has run since.
function global:__sa_compile($request, [string] $text) {
    $tokens = $null
    $faults = $null
    $script = [System.Management.Automation.Language.Parser]::ParseInput($text, [ref] $tokens, [ref] $faults)
    if ($faults.Count -gt 0) {
        [Console]::Error.WriteLine([System.Management.Automation.ParseException]::new($faults).Message)
        $request.Code = 1
        return $false
    }
    $isPlain = $null -eq $script.BeginBlock -and $null -eq $script.ProcessBlock -and
        $null -eq $script.DynamicParamBlock -and $null -ne $script.EndBlock -and $script.EndBlock.Unnamed
    if ($isPlain -and $script.EndBlock.Statements.Count -gt 0) {
        $last = $script.EndBlock.Statements[-1]
        if ($last -is [System.Management.Automation.Language.PipelineAst]) { $request.Last = $last.PipelineElements[-1] }
        # An empty line ends a line that is continued.
        $text += "`n`n" + '$global:__sa.Request.Ok = $?'
    }
    $request.Block = [scriptblock]::Create($text)
    if ($global:LASTEXITCODE -is [int]) { $global:LASTEXITCODE = [long] $global:LASTEXITCODE }
    $true
}

# The exit code: that of the program which was the last statement, else 0 or 1; `exit` names it; 130 after an interrupt.
function global:__sa_code($request) {
    if ($null -ne $request.Code) { return $request.Code }
    $hasRun = $global:LASTEXITCODE -is [int]
    $code = if ($hasRun) { $global:LASTEXITCODE -band 255 } else { 0 }
    $newest = if ($global:Error.Count -gt 0) { $global:Error[0] }
    $hasFailed = $null -ne $newest -and -not [object]::ReferenceEquals($newest, $request.Error)
    $isOk = if ($null -ne $request.Ok) { $request.Ok } else { $request.After }
    if ($null -ne $isOk) {
        if ($isOk) { return 0 }
        if ($code -ne 0 -and -not ($hasFailed -and (__sa_is_cmdlet $request.Last))) { return $code }
        return 1
    }
    if ($request.Left) { return $code }
    if (-not $hasFailed) { return 130 }
    # What $PSNativeCommandUseErrorActionPreference makes of a program's exit code.
    if ($code -ne 0 -and "$($newest.FullyQualifiedErrorId)".StartsWith('ProgramExitedWithNonZeroCode')) { return $code }
    1
}

# Whether the last statement is a command, and no program.
function global:__sa_is_cmdlet($last) {
    if ($last -isnot [System.Management.Automation.Language.CommandAst]) { return $true }
    $name = $last.GetCommandName()
    if ([string]::IsNullOrEmpty($name)) { return $false }
    $command = $ExecutionContext.InvokeCommand.GetCommand($name, 'All')
    $null -ne $command -and $command.CommandType -ne 'Application'
}

# After a command, also one that was interrupted: undoes what was for it alone, and reports.
function global:__sa_finish {
    $sa = $global:__sa
    $request = $sa.Request
    $request.Code = __sa_code $request
    __sa_detach $request
    __sa_undo $request
    if ($global:LASTEXITCODE -is [long]) { $global:LASTEXITCODE = [int] $global:LASTEXITCODE }
    Microsoft.PowerShell.Core\Clear-History -Count 1 -Newest -ErrorAction Ignore
    $directory = $ExecutionContext.SessionState.Path.CurrentFileSystemLocation.ProviderPath
    $report = $sa.Utf8.GetBytes("$($request.Nonce) $($request.Code) 0 $directory`0")
    # Write gives nothing: with the report there is no request.
    $sa.Request = $sa.Report.Write($report, 0, $report.Length)
}

function global:__sa_tell([string] $word) {
    $sa = $global:__sa
    $directory = $ExecutionContext.SessionState.Path.CurrentFileSystemLocation.ProviderPath
    $bytes = $sa.Utf8.GetBytes("$word 0 0 $directory`0")
    $sa.Report.Write($bytes, 0, $bytes.Length)
}

function global:prompt {
    $ErrorActionPreference = 'Continue'
    $PSNativeCommandUseErrorActionPreference = $false
    Microsoft.PowerShell.Core\Set-StrictMode -Off
    if ($null -ne $global:__sa.Request -and $global:__sa.Request.HasBegun) { __sa_finish }
    # An empty one would be replaced.
    ' '
}

# Gives pwsh its next line.
function global:PSConsoleHostReadLine {
    $ErrorActionPreference = 'Continue'
    $PSNativeCommandUseErrorActionPreference = $false
    Microsoft.PowerShell.Core\Set-StrictMode -Off
    $sa = $global:__sa
    $sa.IsAsked = $true
    try {
        if (-not $sa.IsReady) {
            __sa_tell 'ready'
            $sa.IsReady = $true
        }
        $line = __sa_next
        $sa.IsAsked = $false
        $line
    } finally {
        # An interrupt: pwsh reads its terminal instead. The daemon types a newline, after which pwsh asks again.
        if ($sa.IsAsked) { __sa_tell 'idle' }
    }
}

function global:__sa_next {
    $sa = $global:__sa
    while ($true) {
        if ($null -ne $sa.Request -and $sa.Request.HasBegun) { __sa_finish }
        if (-not [System.IO.File]::Exists("$($sa.Dir)/cmd") -or -not (__sa_take)) { return 'exit 71' }
        switch -CaseSensitive ([string] [char] $sa.Request.Bytes[0]) {
            's' { __sa_save; $sa.Request = $null }
            'r' { __sa_tidy; __sa_save; $sa.Request = $null }
            'q' { return 'exit 0' }
            default {
                if (-not [System.IO.File]::Exists("$($sa.Dir)/$(-join [char[]] $sa.Request.Bytes[1..3]).cmd")) { __sa_lost }
                if (__sa_begin $sa.Request) { return ". $($sa.Command); `$global:__sa.Request.Left = `$true" }
            }
        }
    }
}

# Without its text there is no command: the daemon, when it is told, kills this shell and starts another.
function global:__sa_lost {
    __sa_tell 'lost'
    [System.Threading.Thread]::Sleep([System.Threading.Timeout]::Infinite)
}

# Shows what a command gives. Errors go to stderr, in the words of pwsh.
function global:Out-Default {
    [CmdletBinding()]
    param([switch] $Transcript, [Parameter(ValueFromPipeline = $true)] [psobject] $InputObject)
    begin {
        $show = { Microsoft.PowerShell.Core\Out-Default @PSBoundParameters }
        $steps = $show.GetSteppablePipeline($MyInvocation.CommandOrigin)
        $steps.Begin($PSCmdlet)
    }
    process {
        if ($InputObject -isnot [System.Management.Automation.ErrorRecord]) { $steps.Process($InputObject) }
        else { [Console]::Error.Write((Microsoft.PowerShell.Utility\Out-String -InputObject $InputObject)) }
    }
    end { $steps.End() }
}

# What a new shell would need is saved under one of two names in turn, so that one of them is always whole.
$global:__sa.Preferences = @(
    'ConfirmPreference', 'DebugPreference', 'ErrorActionPreference', 'ErrorView', 'FormatEnumerationLimit'
    'InformationPreference', 'OFS', 'ProgressPreference', 'PSDefaultParameterValues', 'PSModuleAutoLoadingPreference'
    'PSNativeCommandArgumentPassing', 'PSNativeCommandUseErrorActionPreference', 'VerbosePreference'
    'WarningPreference', 'WhatIfPreference'
)

# Whether a value comes back as what it is: a text, a number or the like.
function global:__sa_is_simple($value) {
    $null -eq $value -or $value -is [string] -or $value.GetType().IsPrimitive -or $value -is [decimal] -or
        $value -is [datetime] -or $value -is [timespan] -or $value -is [guid] -or $value -is [version] -or $value -is [uri]
}

# How a value is saved: undefined for an object of another type.
function global:__sa_kind($value) {
    if (__sa_is_simple $value) { return 'value' }
    if ($value -is [enum]) { return 'text' }
    $kind = if ($value -is [array] -and $value.Rank -eq 1) { 'array' } elseif ($value.GetType() -eq [hashtable]) { 'table' }
    if ($null -eq $kind) { return }
    $parts = if ($kind -eq 'array') { $value } else { @($value.Keys) + @($value.Values) }
    foreach ($part in $parts) { if (-not (__sa_is_simple $part)) { return } }
    $kind
}

function global:__sa_quoted([string] $text) {
    "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($text) + "'"
}

# Takes a variable back.
function global:__sa_variable([string] $name, [string] $kind, [string] $text) {
    $value = [System.Management.Automation.PSSerializer]::Deserialize($text)
    if ($kind -eq 'array') { $value = [object[]] $value }
    elseif ($kind -eq 'table') { $value = [hashtable] $value }
    Microsoft.PowerShell.Utility\Set-Variable -Name $name -Scope Global -Value $value -ErrorAction Ignore
}

function global:__sa_saved_variables {
    $left = 4000000
    foreach ($variable in Microsoft.PowerShell.Utility\Get-Variable -Scope Global) {
        $name = $variable.Name
        $isOwn = $global:__sa.Names.ContainsKey("variable $name") -and $name -notin $global:__sa.Preferences
        if ($isOwn -or $variable.Options -band [System.Management.Automation.ScopedItemOptions]::Constant) { continue }
        $kind = __sa_kind $variable.Value
        if ($null -eq $kind) { continue }
        $value = if ($kind -eq 'text') { "$($variable.Value)" } else { $variable.Value }
        $line = "__sa_variable $(__sa_quoted $name) $kind $(__sa_quoted ([System.Management.Automation.PSSerializer]::Serialize($value)))"
        $left -= $line.Length
        if ($left -gt 0) { $line }
    }
}

# Functions and aliases that are neither those of pwsh, nor of a module, nor of this file.
function global:__sa_own([string] $drive) {
    foreach ($each in Microsoft.PowerShell.Management\Get-ChildItem -Path "${drive}:") {
        $known = $global:__sa.Names["$drive $($each.Name)"]
        if ($each.Name -like '__sa_*' -or $each.Source -ne '' -or $each.Definition -eq $known) { continue }
        $each
    }
}

function global:__sa_save {
    $ErrorActionPreference = 'SilentlyContinue'
    $sa = $global:__sa
    $number = 1 - $sa.State
    $functions = @(__sa_own 'function')
    $aliases = @(__sa_own 'alias')
    $state = [System.Collections.Generic.List[string]]::new()
    $restored = [System.Collections.Generic.List[string]]::new()
    $state.Add('#names')
    $unsaved = 'SHELL_ADAPTER_TAG', 'PWD', 'OLDPWD', 'SHLVL', '_'
    foreach ($each in [Environment]::GetEnvironmentVariables().GetEnumerator()) {
        if ($unsaved -ccontains $each.Key) { continue }
        $state.Add("#variable $($each.Key) $([uri]::EscapeDataString($each.Value))")
        $restored.Add("__sa_export $(__sa_quoted $each.Key) $(__sa_quoted $each.Value)")
    }
    foreach ($each in $functions + $aliases) { $state.Add("#function $($each.Name)") }
    foreach ($each in $functions) {
        $path = __sa_quoted "function:global:$($each.Name)"
        $restored.Add("Microsoft.PowerShell.Management\Set-Item -Path $path -Value ([scriptblock]::Create($(__sa_quoted $each.Definition)))")
    }
    foreach ($each in $aliases) {
        $restored.Add("Microsoft.PowerShell.Utility\Set-Alias -Scope Global -Name $(__sa_quoted $each.Name) -Value $(__sa_quoted $each.Definition)")
    }
    $variables = @(__sa_saved_variables) + '#end'
    [System.IO.File]::WriteAllText("$($sa.Dir)/settings.$number", "#end`n", $sa.Utf8)
    [System.IO.File]::WriteAllText("$($sa.Dir)/variables.$number", ($variables -join "`n") + "`n", $sa.Utf8)
    [System.IO.File]::WriteAllText("$($sa.Dir)/state.$number", (@($state) + @($restored) + '#end' -join "`n") + "`n", $sa.Utf8)
    $sa.State = $number
}

foreach ($name in 'prompt', 'PSConsoleHostReadLine', 'Out-Default') {
    Microsoft.PowerShell.Management\Set-Item -Path "function:global:$name" -Options ReadOnly -Value (
        Microsoft.PowerShell.Management\Get-Item -Path "function:global:$name").ScriptBlock
}
# Progress would be drawn into what commands print.
$global:ProgressPreference = 'SilentlyContinue'
$global:PSStyle.OutputRendering = 'PlainText'
foreach ($name in 'variables.0', 'variables.1', 'settings.0', 'settings.1', 'state.0', 'state.1', 'modes') {
    [System.IO.File]::WriteAllText("$($global:__sa.Dir)/$name", '')
}
foreach ($drive in 'function', 'alias') {
    Microsoft.PowerShell.Management\Get-ChildItem -Path "${drive}:" | Microsoft.PowerShell.Core\ForEach-Object {
        $global:__sa.Names["$drive $($_.Name)"] = $_.Definition
    }
}
Microsoft.PowerShell.Utility\Remove-Variable -Name 'name', 'drive'
Microsoft.PowerShell.Utility\Get-Variable -Scope Global | Microsoft.PowerShell.Core\ForEach-Object {
    $global:__sa.Names["variable $($_.Name)"] = ''
}
__sa_silence
