import { type Argument, UNKNOWN } from '../words/argument.js';
import type { GivenOption, OptionSpec, ParsedArguments } from './program-spec.js';

type Options = Readonly<Record<string, OptionSpec>>;

/**
 * Splits options from operands, as getopt_long(3) does: clusters, attached values, abbreviations, `--`.
 * @param stopsAtOperand whether what follows the first operand belongs to another program
 */
export function parseArguments(args: readonly Argument[], options: Options, stopsAtOperand = false): ParsedArguments {
  const given: GivenOption[] = [];
  const operands: Argument[] = [];
  const doubtful: Argument[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index];
    if (!arg) break;
    if (arg.shape === '--') {
      const after = args.slice(index + 1);
      operands.push(...(stopsAtOperand ? after.slice(0, 1) : after));
      return { options: given, operands, doubtful, rest: after.slice(1) };
    }
    if (isDoubtful(arg)) doubtful.push(arg);
    if (isOperand(arg)) {
      operands.push(arg);
      if (stopsAtOperand) return { options: given, operands, doubtful, rest: args.slice(index + 1) };
    } else {
      const read = readOptions(arg, args[index + 1], options);
      given.push(...read.given);
      if (read.takesNext) index += 1;
      if (read.given.some(({ spec }) => spec?.isLast === true))
        return { options: given, operands, doubtful, rest: args.slice(index + 1) };
    }
  }
  return { options: given, operands, doubtful, rest: [] };
}

const isDoubtful = ({ shape }: Argument): boolean => shape.startsWith(UNKNOWN) || shape.startsWith(`-${UNKNOWN}`);

/** A word that is no option. `-` alone stands for standard input. */
const isOperand = ({ shape }: Argument): boolean =>
  !shape.startsWith('-') || shape === '-' || shape.startsWith(`-${UNKNOWN}`);

/** Reads the options of one word, the last of which may take the next word as its value. */
function readOptions(
  arg: Argument,
  next: Argument | undefined,
  options: Options,
): { readonly given: readonly GivenOption[]; readonly takesNext: boolean } {
  const given = arg.shape.startsWith('--') ? readLong(arg, options) : readShort(arg, options);
  const last = given.at(-1);
  if (!last?.spec?.value || last.value !== undefined || last.spec.isAttached === true)
    return { given, takesNext: false };
  return { given: [...given.slice(0, -1), { ...last, value: next }], takesNext: true };
}

/** `--name`, `--name=value`, and abbreviations, for which the most dangerous meaning counts. */
function readLong(arg: Argument, options: Options): readonly GivenOption[] {
  const { name, value } = splitAtEquals(arg);
  const exact = lookUp(options, name);
  if (exact) return [{ name, spec: exact, value }];
  const candidates = Object.keys(options).filter((known) => known.startsWith(name));
  const [worst] = candidates.toSorted((a, b) => severityOf(options[b]) - severityOf(options[a]));
  if (worst === undefined) return [{ name, spec: undefined, value }];
  return [{ name: worst, spec: options[worst], value }];
}

/** The name of an option, and the value that is attached to it. */
function splitAtEquals(arg: Argument): { readonly name: string; readonly value: Argument | undefined } {
  const equals = arg.shape.indexOf('=');
  if (equals === -1) return { name: arg.shape, value: undefined };
  return { name: arg.shape.slice(0, equals), value: tailOf(arg, equals + 1) };
}

/** `-name` as a whole, or a cluster of letters. */
function readShort(arg: Argument, options: Options): readonly GivenOption[] {
  const { name, value } = splitAtEquals(arg);
  const spec = name.length > 2 ? lookUp(options, name) : undefined;
  return spec ? [{ name, spec, value }] : readCluster(arg, options);
}

/** A cluster of letters; the first letter that takes a value gets the remainder. */
function readCluster(arg: Argument, options: Options): readonly GivenOption[] {
  const { shape } = arg;
  const read: GivenOption[] = [];
  for (let at = 1; at < shape.length; at += 1) {
    const name = `-${shape[at] ?? ''}`;
    const spec = lookUp(options, name);
    if (spec?.value !== undefined) {
      const hasRest = at + 1 < shape.length;
      return [...read, { name, spec, value: hasRest ? tailOf(arg, at + 1) : undefined }];
    }
    read.push({ name, spec, value: undefined });
  }
  return read;
}

const lookUp = (options: Options, name: string): OptionSpec | undefined =>
  Object.hasOwn(options, name) ? options[name] : undefined;

/** How much an option may do, of which only the beginning of the name is known. */
const severityOf = (spec: OptionSpec | undefined): number =>
  (spec?.class ? 2 : 0) + (spec?.value?.risk === 'executes' ? 4 : spec?.value?.risk === 'writes' ? 1 : 0);

export const hasOption = ({ options }: ParsedArguments, ...names: readonly string[]): boolean =>
  options.some(({ name }) => names.includes(name));

/** The value of the first of the options that is given. */
export const valueOfOption = ({ options }: ParsedArguments, ...names: readonly string[]): Argument | undefined =>
  options.find(({ name }) => names.includes(name))?.value;

/** Whether the table lists the value of an option as harmless. */
export const isHarmlessValue = ({ harmless }: OptionSpec, value: Argument | undefined): boolean =>
  value?.value !== undefined && harmless?.test(value.value) === true;

export function tailOf(arg: Argument, from: number): Argument {
  const shape = arg.shape.slice(from);
  return { ...arg, shape, value: shape.includes(UNKNOWN) ? undefined : shape };
}

/** A word that may be a subcommand, with the words after it. */
export interface SubcommandReading {
  readonly name: Argument;
  readonly rest: readonly Argument[];
  /** It cannot be the value of an option. */
  readonly isCertain: boolean;
}

/**
 * The ways to read arguments up to the first operand, the likeliest first: the value of an unknown option resembles an
 * operand, so what follows is read as well.
 */
function readingsOf(args: readonly Argument[], options: Options): readonly ParsedArguments[] {
  const readings: ParsedArguments[] = [];
  let rest = args;
  for (;;) {
    const parsed = parseArguments(rest, options, true);
    readings.push(parsed);
    if (parsed.operands.length === 0 || !mayBeValue(parsed)) return readings;
    ({ rest } = parsed);
  }
}

/** The words of a program's arguments that may be its subcommand, the likeliest first. */
export const subcommandsIn = (args: readonly Argument[], options: Options): readonly SubcommandReading[] =>
  readingsOf(args, options).flatMap((parsed) => {
    const [name] = parsed.operands;
    return name ? [{ name, rest: parsed.rest, isCertain: !mayBeValue(parsed) }] : [];
  });

/** Arguments up to the first operand, with the options of all readings. */
export function parseBeforeOperand(args: readonly Argument[], options: Options): ParsedArguments {
  const readings = readingsOf(args, options);
  const [first = parseArguments(args, options, true)] = readings;
  return readings.length < 2 ? first : { ...first, options: readings.flatMap((parsed) => parsed.options) };
}

/** Whether the first operand may be the value of the option before it. */
function mayBeValue({ options }: ParsedArguments): boolean {
  const last = options.at(-1);
  return last !== undefined && last.spec === undefined && last.value === undefined;
}

/**
 * Long options without effects but on what is printed, or which files are read: of GNU coreutils, grep, diffutils, procps, util-linux, jq, ripgrep,
 * tree and others, as their `--help` lists them. One list serves all programs that read: what does something else in one of them stands in its entry.
 */
const HARMLESS = `
across active after-context algorithm alias all all-fqdns all-headers all-ip-addresses all-repeated almost-all alphanum alternative apparent-size
apple arg argjson args arguments ascii ascii-output author ax25 base16 base2lsbf base2msbf base32 base32hex base64 base64url basic-regexp batch-
before before-context binary binary-files block-size body-numbering boot bpf brief buffer-size byte-offset bytes cache cached caches canonicalize
canonicalize-existing canonicalize-missing case-sensitive catalog cgroup characters chars check check-chars check-order checking- classify color
color-output colour column columns committed compact-not compact-output complement context contexts continuous count count-links count-matches crlf
crown-margin date date-format dccp dead decode decorations dedup defined-only delete delimiter delimiters demangle dereference dereference-args
dereference-command-line dereference-command-line-symlink-to-dir dereference-recursive devices df diag dictionary-order direction directories
directory dired dirsfirst disassemble discard disk disk-sum dmesg dns domain double-space dynamic easy-only echo ed encoding engine equal-width escape
evaluate events exact exclude exclude-dir exclude-quiet exclude-type exit-status expand-tabs extend extended extended-regexp extension extern-only
family fib field field-separator fields file-headers file-name-case file-system file-type filelimit files files-with-matches files-without-match
fillrows first-line- first-only fixed-strings follow footer-numbering force forks form-feed format fqdn fs fstab full full-time fullnames fulltimes
general- gibi giga git git-ignore glob-case-insensitive goal grep group group-directories-first group-separator grouping groups hardware- head-count
header header-numbering heading help hex hex-dump hidden hide hide-control-chars hide-threads highlight-all highlight-pid hint horizon-lines hostlast
human human-numeric-sort human-readable hyperlink icons identifier ifdef ignore ignore- ignore-all-space ignore-backups ignore-blank- ignore-case
ignore-file-name-case ignore-garbage ignore-initial ignore-leading-blanks ignore-matching-lines ignore-missing ignore-space-change
ignore-tab-expansion ignore-trailing-space include include-zero indent indicator-style inet-sockopt info initial initial-tab inode inodes input-range
interactive interfaces invalid inverse invert invert-match ip ip-addr ip-address ips ipv4 ipv6 ipx iso-8601 join-blank-lines join-lines join-output
json jsonargs keep-empty-lines keep-going kernel kernel- kernel-name kernel-release key kibi kibibytes kilo label left-column length level limit line-
line-buffered line-format line-increment line-number line-range lines list list-filesystems list-full list-name list-one listening literal local
logical login lohi long lookup machine masquerade match-tag match-token match-types mathlib max-columns max-count max-depth max-filesize
max-line-length max-unchanged-stats mebi mega memory merge mesg message mime mime-encoding mime-type minimal modes monochrome-output month-sort
mountpoint mountpoints mptcp mtab multiline multiline-dotall multiple name net netrom new-file newest nis no-addrconfig no-buffer no-color no-colour
no-column no-config no-current no-dereference no-encoding no-file-warnings no-filename no-first no-group no-group-separator no-header no-heading
no-hidden no-idn no-ignore no-ignore- no-ignore-case no-line-number no-messages no-newline no-pad no-pager no-part-details no-renumber no-require-git
no-symlinks no-sync nocanonicalize nocheck-order nodename nodeps noempty nofsroot noheadings nohostname nonprinting noreport normal nosymlinks notes
notruncate nowrap ns-changes ns-sort nul- null null-data null-input number number-format number-lines number-nonblank number-separator number-width
numeric numeric-hosts numeric-ports numeric-sort numeric-uid-gid numeric-users offline offset old-style oldest omit-header omit-pagination
one-file-system one-header oneline online only-delimited only-matching operating-system options output output-all output-delimiter output-fields
output-separator output-tabs output-width overlap-only owners packet padding page-width pages paginate paging pairs palette parallel parameter parse
partition passthru paths pcre2 pebi perl-regexp perms peta physical pid pids plain platform poll portability prefix present preserve-date pretty
print-bytes print-type print0 printf printout priority process processes processor program-headers programs pseudo quiet quote-name quoting-style
random-sort random-source raw raw-input raw-output rcs real recursive regex regexp relative-base relative-to relocs repeat repeated replace
report-identical-files resolution resolve retry reverse rfc-3339 rfc-email round route scsi sctp search-zip seconds section-delimiter section-headers
sections security-context segments sep-string separate-dirs separator seq serial shadowed short show- show-all show-c-function show-control-chars
show-ends show-function-line show-nonprinting show-overlap show-parents show-pgids show-tabs si side-by-side silent since size size-sort skip-chars
skip-fields slabs sleep-interval slurp smart-case socket sort sort-keys sortr source spaces special-files speed-large-files split-only squeeze-blank
squeeze-repeats stable standard starting-line-number statistics stats status stream strict string-dump strip strip-components strip-trailing-cr
submounts suffix summarize summary suppress-blank-empty suppress-common-lines symbolic symbols syms sync synchronous system sysv tab table
table-columns table-columns-limit table-header-repeat table-hide table-name table-noextreme table-noheadings table-order table-right table-truncate
table-wrap tabs tabsize tag tagged-paragraph target task tcp tebi tera terminal- terminate terse test text thread-names threads threshold time
time-format time-style timeout timers timestamp tipc tipcinfo topology tos total tree tree-id tree-parent trim truncate-set1 type type-not types udp
udplite uid-changes uncompress uncompress-noreport undefined-only unicode unidirectional-new-file unified uniform-spacing uniq unique unit universal
unix untagged until usage usages user user-unit users utc uuid verbose verify version version-info version-sort vertical vfs-all vimgrep vsock vt100
warn wide width with-filename word-regexp words wrap writable xdp yp z85 zero zero-terminated zoned
`.split(/\s+/);

/** Whether a long option of a program that only reads, or the beginning of its name, is not known to be without effects. */
export const isUnknownReadingOption = (name: string): boolean =>
  name.startsWith('--') && !HARMLESS.some((known) => known.startsWith(name.slice(2)));
