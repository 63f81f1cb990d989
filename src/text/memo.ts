/** A bounded cache of what a pure function made of a key; the least recently used goes first. */
export class Memo<Value> {
  readonly #kept = new Map<string, Value>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What `make` made for this key before, else what it makes now. */
  get(key: string, make: () => Value): Value {
    const known = this.#kept.get(key);
    this.#kept.delete(key);
    const value = known ?? make();
    this.#kept.set(key, value);
    if (this.#kept.size > this.#limit) {
      const [oldest] = this.#kept.keys();
      this.#kept.delete(oldest!);
    }
    return value;
  }
}

/** What was read under a key, up to so many characters in all; the least recently used goes first. */
export class SizedMemo<Value> {
  readonly #kept = new Map<string, { readonly value: Value; readonly characters: number }>();
  readonly #limit: number;
  #characters = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): Value | undefined {
    const known = this.#kept.get(key);
    if (known === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, known);
    return known.value;
  }

  keep(key: string, value: Value, characters: number): void {
    if (this.#kept.has(key)) return;
    this.#kept.set(key, { value, characters });
    this.#characters += characters;
    for (const [oldest, one] of this.#kept) {
      if (this.#characters <= this.#limit) break;
      this.#kept.delete(oldest);
      this.#characters -= one.characters;
    }
  }
}

/** What a pure function makes of an object that never changes, made once for as long as it is there. */
export function onceFor<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    let found = known.get(key);
    if (found === undefined) {
      found = { value: make(key) };
      known.set(key, found);
    }
    return found.value;
  };
}

/** The same for two objects. */
export function onceForPair<First extends object, Second extends object, Value>(
  make: (first: First, second: Second) => Value,
): (first: First, second: Second) => Value {
  const byFirst = onceFor((first: First) => onceFor((second: Second) => make(first, second)));
  return (first, second) => byFirst(first)(second);
}

/** Freezes a value of JSON with all its parts, since those who share it must not change it. */
export function freezeDeep<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) freezeDeep(part);
  return Object.freeze(value);
}
