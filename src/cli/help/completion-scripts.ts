import type { CompletionTable, CompletionWord } from './completion-table.js';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** A completion script for a shell. It starts no program but `berth __complete`, which prints words, each with a tab and what it is. */
export function completionScript(shell: Shell, table: CompletionTable): string {
  const made = `# Completion of berth for ${shell}, made by: berth completion ${shell}\n`;
  if (shell === 'fish') return `${made}${fishTables(table)}${fishGlue}`;
  return shell === 'bash'
    ? `${made}${posixTables(table)}${posixWords}${bashGlue}`
    : `#compdef berth\n${made}${posixTables(table)}${posixWords}${zshGlue}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function toLine({ word, text }: CompletionWord): string {
  return `${word}\t${text}`;
}

/** The table as functions of bash and zsh. */
function posixTables({ commands, options, values }: CompletionTable): string {
  const lists = (found: Map<string, CompletionWord[]>): string =>
    [...found]
      .map(([name, words]) => `    ${quote(name)}) printf '%s\\n' ${words.map((word) => quote(toLine(word))).join(' ')} ;;\n`)
      .join('');
  // An option or argument with any value: its name must be known to skip the value.
  const kinds = [...values].map(([key, kind]) => {
    const pattern = key.endsWith(' *') ? `${quote(key.slice(0, -1))}[0-9]*` : quote(key);
    return `    ${pattern}) echo ${quote(kind === '' ? 'text' : kind)} ;;\n`;
  });
  return (
    `_berth_commands() {\n  case "$1" in\n${lists(commands)}  esac\n}\n` +
    `_berth_options() {\n  case "$1" in\n${lists(options)}  esac\n}\n` +
    `_berth_kind() {\n  case "$1 $2" in\n${kinds.join('')}  esac\n}\n`
  );
}

/**
 * What bash and zsh share. `_berth_scan WORDS…` reads the words before the one that is completed, and sets `berth_path` (the command),
 * `berth_count` (the number of the next argument), `berth_before` (an option that waits for its value) and `berth_flags` (where the daemon is).
 */
const posixWords = `_berth_scan() {
  berth_path= berth_count=1 berth_before= berth_flags=()
  local word
  for word in "$@"; do
    # Bash splits words at the sign.
    if [ "$word" = '=' ]; then continue; fi
    if [ -n "$berth_before" ]; then
      case "$berth_before" in
        --socket|--state-dir|--config-dir) berth_flags+=("$berth_before" "$word") ;;
      esac
      berth_before=
    else
      case "$word" in
        -*) if [ -n "$(_berth_kind "$berth_path" "$word")" ]; then berth_before=$word; fi ;;
        *)
          if [ -n "$(_berth_commands "$berth_path")" ]; then berth_path="\${berth_path:+$berth_path }$word"
          else berth_count=$((berth_count + 1)); fi ;;
      esac
    fi
  done
}
_berth_lines() {
  local kind word
  for kind in $(_berth_kind "$berth_path" "$1"); do
    case "$kind" in
      words|text|dir|file) ;;
      session|mode|model|request) berth "\${berth_flags[@]}" __complete "$kind" "$2" 2>/dev/null ;;
      *) printf '%s\\t\\n' "$kind" ;;
    esac
  done
}
_berth_list() {
  if [ -n "$berth_before" ]; then _berth_lines "$berth_before" "$1"
  else
    case "$1" in
      -*) _berth_options "$berth_path" ;;
      *)
        _berth_commands "$berth_path"
        _berth_lines "$berth_count" "$1" ;;
    esac
  fi
}
`;

const bashGlue = `_berth() {
  local berth_path berth_count berth_before berth_flags cur head= value text width=0 i
  local -a before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}") values=() texts=()
  cur=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  # Words are split at = and at colons.
  if [[ $cur == = ]]; then cur=
  elif [[ $cur == : ]]; then head=\${COMP_WORDS[COMP_CWORD-1]}: cur=; unset 'before[COMP_CWORD-2]'
  elif [[ $COMP_CWORD -gt 2 && \${COMP_WORDS[COMP_CWORD-1]} == : ]]; then
    head=\${COMP_WORDS[COMP_CWORD-2]}:
    unset 'before[COMP_CWORD-2]' 'before[COMP_CWORD-3]'
  fi
  _berth_scan "\${before[@]}"
  case " $(_berth_kind "$berth_path" "\${berth_before:-$berth_count}") " in
    ' dir ') mapfile -t COMPREPLY < <(compgen -d -- "$cur"); compopt -o filenames; return ;;
    ' file ') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames; return ;;
  esac
  # What was typed, without its quotes.
  local typed=$head\${cur//\\\\/}
  typed=\${typed#[\\"\\']}
  while IFS=$'\\t' read -r value text; do
    [[ $value == "$typed"* ]] || continue
    values+=("\${value#"$head"}") texts+=("$text")
    if ((\${#value} > width)); then width=\${#value}; fi
  done < <(_berth_list "$typed")
  for i in "\${!values[@]}"; do
    # A list for people says what each is; it is not inserted.
    if [[ \${#values[@]} -gt 1 && $COMP_TYPE == 63 && -n \${texts[i]} ]]; then
      printf -v value '%-*s  (%s)' "$width" "\${values[i]}" "\${texts[i]}"
      COMPREPLY+=("\${value:0:\${COLUMNS:-80}-1}")
    elif [[ $cur == [\\"\\']* ]]; then COMPREPLY+=("\${values[i]}")
    else printf -v value '%q' "\${values[i]}"; COMPREPLY+=("$value"); fi
  done
}
complete -F _berth berth
`;

const zshGlue = `_berth() {
  local berth_path berth_count berth_before value text typed
  local -a berth_flags values texts
  typed=\${(Q)PREFIX}
  # --option=value
  if [[ $typed == --*=* ]]; then
    _berth_scan "\${(@Q)words[2,CURRENT-1]}" "\${typed%%=*}"
    compset -P '*='
    typed=\${typed#*=}
  else
    _berth_scan "\${(@Q)words[2,CURRENT-1]}"
  fi
  case " $(_berth_kind "$berth_path" "\${berth_before:-$berth_count}") " in
    ' dir ') _files -/; return ;;
    ' file ') _files; return ;;
  esac
  while IFS=$'\\t' read -r value text; do
    [[ $value == "$typed"* ]] || continue
    values+=("$value")
    texts+=("\${value}\${text:+  -- $text}")
  done < <(_berth_list "$typed")
  (( \${#values} )) && compadd -l -d texts -a values
}
if [ "\${funcstack[1]}" = _berth ]; then _berth "$@"; else compdef _berth berth; fi
`;

function fishQuote(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}

function fishTables({ commands, options, values }: CompletionTable): string {
  const lists = (found: Map<string, CompletionWord[]>): string =>
    [...found]
      .map(
        ([name, words]) =>
          `        case ${fishQuote(name)}\n            printf '%s\\n' ${words.map((word) => fishQuote(toLine(word))).join(' ')}\n`,
      )
      .join('');
  const kinds = [...values].map(
    ([key, kind]) => `        case ${fishQuote(key)}\n            echo ${fishQuote(kind === '' ? 'text' : kind)}\n`,
  );
  return (
    `function __berth_commands\n    switch $argv[1]\n${lists(commands)}    end\nend\n` +
    `function __berth_options\n    switch $argv[1]\n${lists(options)}    end\nend\n` +
    `function __berth_kind\n    switch "$argv[1] $argv[2]"\n${kinds.join('')}    end\nend\n`
  );
}

const fishGlue = `function __berth_list
    set -l path ''
    set -l count 1
    set -l before ''
    set -l flags
    set -l typed (commandline -ct | string unescape)
    test -n "$typed"; or set typed ''
    for word in (commandline -opc)[2..-1]
        if test -n "$before"
            contains -- $before --socket --state-dir --config-dir; and set -a flags $before $word
            set before ''
        else if string match -q -- '-*' $word
            test -n "$(__berth_kind $path $word)"; and set before $word
        else if test -n "$(__berth_commands $path)"
            set path (string trim "$path $word")
        else
            set count (math $count + 1)
        end
    end
    if test -z "$before"; and string match -qr -- '^--[^=]+=' $typed
        set before (string split -m 1 -- = $typed)[1]
        set flags $flags
        set -l prefix $before=
        set typed (string split -m 1 -- = $typed)[2]
        __berth_values $path $before "$typed" $flags | string replace -r '^' -- $prefix
        return
    end
    if test -n "$before"
        __berth_values $path $before "$typed" $flags
    else if string match -q -- '-*' $typed
        __berth_options $path
    else
        __berth_commands $path
        __berth_values $path $count "$typed" $flags
    end
end
function __berth_values -a path what typed
    for kind in (string split ' ' -- (__berth_kind $path $what))
        switch $kind
            case words text
            case dir
                __fish_complete_directories $typed
            case file
                __fish_complete_path $typed
            case session mode model request
                berth $argv[4..-1] __complete $kind "$typed" 2>/dev/null
            case '*'
                echo $kind
        end
    end
end
complete -c berth -f -a '(__berth_list)'
`;
