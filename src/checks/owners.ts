const SMALL_WORDS = new Set(
  'the a an both two three all our each every either one of die der das den beide'.split(' '),
);

/** Longer ones are text of their own; the limit keeps a run of open brackets linear. */
const BRACKETS = /\([^)]{0,100}\)|\[[^\]]{0,100}\]/g;

/** The owners in "the bakers and the developer"; what stands in brackets describes them. */
export function splitOwners(text: string): string[] {
  return text
    .replaceAll(BRACKETS, ' ')
    .split(/[,;/&+\n]|\s(?:and|und|with|mit)\s/i)
    .map((part) => part.trim().replaceAll(/\s+/g, ' '))
    .filter(
      (part) => ownerKey(part) !== '' && !/^(tbd|unknown|nobody|none|n\.?a\.?|-+)$/i.test(part),
    );
}

/** What "bakers", "the bakers" and "Both bakers" share. */
export function ownerKey(name: string): string {
  const words = name
    .toLowerCase()
    .replaceAll(BRACKETS, ' ')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !SMALL_WORDS.has(word));
  return words.map(toSingular).join(' ');
}

const toSingular = (word: string): string =>
  word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;

/** What tells somebody apart from the one who is known by the rest of the name. */
const SOMEBODY_ELSE = new Set(
  'outside external another other second third further additional new extern weiterer zweiter'.split(
    ' ',
  ),
);

/**
 * The known person that an owner means: the same name, or the only one whose words are all among
 * the owner's or the other way round ("freelance developer" is the developer, "outside developer" is
 * somebody else).
 */
export function matchOwner(owner: string, known: readonly string[]): string {
  const key = ownerKey(owner);
  if (known.includes(key)) return key;
  const words = new Set(key.split(' '));
  const [near = key, ...others] = known.filter((name) => {
    const named = name.split(' ');
    const shared = named.filter((word) => words.has(word)).length;
    const isElse = [...words].some((word) => SOMEBODY_ELSE.has(word) && !named.includes(word));
    return shared > 0 && !isElse && (shared === named.length || shared === words.size);
  });
  return others.length === 0 ? near : key;
}
