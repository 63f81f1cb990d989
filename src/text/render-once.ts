import {
  type Context,
  type Emitter,
  evalToken,
  type PartialScope,
  RenderTag,
  Value,
} from 'liquidjs';

/** What a tag printed last, and for which arguments. */
type Printed = { readonly values: readonly unknown[]; readonly pieces: readonly unknown[] };

/**
 * The tag `render`, which gives what it printed before where it gets the same arguments again and none
 * of them can have changed. What a text prints depends on them alone: it sees no other variable.
 */
export class RenderOnce extends RenderTag {
  readonly #isPlain = isPlain(this.partialScope());
  #last: Printed | undefined;

  override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const values: unknown[] = [];
    for (const one of this.#isPlain ? this.arguments() : []) {
      values.push(yield one instanceof Value ? one.value(context) : evalToken(one, context));
    }
    // Who freezes an object for templates freezes its parts as well.
    if (!this.#isPlain || !values.every(Object.isFrozen)) {
      yield super.render(context, emitter);
      return;
    }
    let last = this.#last;
    if (last === undefined || !isSame(last.values, values)) {
      const pieces: unknown[] = [];
      yield super.render(context, { buffer: '', write: (piece) => pieces.push(piece) });
      last = { values, pieces };
      this.#last = last;
    }
    for (const piece of last.pieces) emitter.write(piece);
  }
}

/** Filters that print something else another time. */
const CHANGING = /\|\s*(?:date|sample)/;

/** Whether texts print the same for the same arguments at any time. */
export const isTimeless = (texts: Readonly<Record<string, string>>): boolean =>
  !Object.values(texts).some((text) => CHANGING.test(text));

/** Whether the text and the names of its arguments are written out in the template. */
const isPlain = (partial: PartialScope | undefined): boolean =>
  partial !== undefined && [...partial.scope].every((name) => typeof name === 'string');

const isSame = (before: readonly unknown[], now: readonly unknown[]): boolean =>
  now.every((value, at) => Object.is(value, before[at]));
