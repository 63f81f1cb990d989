import { joinCites, type Statement } from './statement.ts';
import { shorten } from './title.ts';

/** What fills the places of a template beside the statement itself. */
export type Setting = {
  /** Another thing to do. */
  readonly other: Statement | undefined;
  /** A system that the statement names, or nothing. */
  readonly system: string;
  readonly label: string;
  /** Whether the sentence asks for something or comes from a document that can be judged. */
  readonly quotable: boolean;
  /** ` (label)` where a quotation has to say whose words it gives. */
  readonly origin: string;
  readonly project: string;
  /** What the section is about, in its own words. */
  readonly subject: string;
  readonly ids: readonly string[];
};

const PLACE = /\{(!?)(\w+)\}/g;
const LONGEST_QUOTE = 200;

/** The sentence, or undefined where the statement does not have what the template names. */
export function fillTemplate(
  template: string,
  statement: Statement,
  setting: Setting,
): string | undefined {
  let fits = true;
  const text = template.replace(PLACE, (_whole, not: string, place: string) => {
    const value = findValue(place, statement, setting);
    if (place === 'task') {
      if (statement.role !== 'task') fits = false;
      return '';
    }
    if (not === '!') {
      if (value !== '') fits = false;
      return '';
    }
    if (value === '') fits = false;
    return value;
  });
  return fits ? tidy(text) : undefined;
}

function findValue(place: string, statement: Statement, setting: Setting): string {
  const { traits, core, cites, remark, title } = statement;
  switch (place) {
    case 's':
      return statement.text;
    case 'q':
      return setting.quotable ? quote(core, cites) + setting.origin : '';
    case 'ctx':
      return statement.role === 'context' ? quote(core, cites) : '';
    case 't':
      return isNamed(statement) ? `‘${lowerFirst(title)}’` : '';
    case 'lim':
      return statement.role === 'limit' ? quote(core, cites) : '';
    case 'o':
      return setting.other ? `‘${lowerFirst(setting.other.title)}’` : '';
    case 'n':
      return setting.system;
    case 'f':
      return traits.figure;
    case 'a':
      return toPlural(traits.actor);
    case 'abs':
      return traits.absolute;
    case 'cite':
      return cites.join(' ');
    case 'c':
      return remark;
    case 'r':
      return setting.ids.length > 0 ? ` (${setting.ids.join(', ')})` : '';
    case 'l':
      return setting.label === '' ? '' : nameInput(setting.label);
    case 'p':
      return setting.project;
    default:
      return setting.subject;
  }
}

/** Only what is to be done has a name that sentences can be made with. */
const isNamed = ({ role }: Statement): boolean =>
  role === 'task' || role === 'made' || role === 'later';

/** Quotation marks would claim that a cited source has these words; those statements lean. */
export function quote(core: string, cites: readonly string[]): string {
  const whole = core.length <= LONGEST_QUOTE;
  const text = whole ? core : `${shorten(core, LONGEST_QUOTE)} …`;
  const inner = text.replaceAll(/[“”"]/g, "'").replaceAll('*', '');
  return cites.length === 0 ? `“${inner}”` : joinCites(`*${inner}*`, cites);
}

/** A bare letter is no name. */
export const nameInput = (label: string): string =>
  /^[\p{Lu}\p{N}]{1,3}$/u.test(label) ? `document ${label}` : label;

const toPlural = (actor: string): string =>
  actor === '' || /s$|^staff$/.test(actor) ? actor : `${actor}s`;

/** Names and abbreviations keep their capital. */
const lowerFirst = (text: string): string =>
  /^\p{Lu}[\p{Ll}-]*(?:\s|$)/u.test(text) && !/^\p{Lu}\p{Ll}+\s\p{Lu}/u.test(text)
    ? text.charAt(0).toLowerCase() + text.slice(1)
    : text;

/** A sentence starts with a capital, whatever it starts with, and ends once. */
function tidy(text: string): string {
  const capital = text.replace(
    /^(‘?)(\p{Ll})/u,
    (_whole, mark: string, letter: string) => mark + letter.toUpperCase(),
  );
  return capital
    .replace(/([.!?…])([”’*]?)\.$/u, '$1$2')
    .replace(/\s+/g, ' ')
    .trim();
}
