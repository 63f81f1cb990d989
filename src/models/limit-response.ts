import { DialecticError } from '../errors/errors.ts';

/** How much of an answer is read, counted behind the decompression. */
type SizeLimits = {
  readonly bodyBytes: number;
  /** Bytes and lines between two blank lines: parsers keep an event in memory until its end. */
  readonly eventBytes: number;
  readonly eventLines: number;
};

const MEGABYTE = 1_000_000;

/**
 * A token takes some 300 bytes of a stream, so that this is room for 200,000; the last event of some
 * APIs repeats the whole answer.
 */
export const STREAM_LIMITS: SizeLimits = {
  bodyBytes: 64 * MEGABYTE,
  eventBytes: 8 * MEGABYTE,
  eventLines: 10_000,
};

/** An answer that comes at once is held in memory as bytes, as text and as values. */
export const WHOLE_LIMITS: SizeLimits = {
  bodyBytes: 16 * MEGABYTE,
  eventBytes: 16 * MEGABYTE,
  eventLines: Number.POSITIVE_INFINITY,
};

/** What a provider says about an error fits into a line. */
const ERROR_BYTES = 100_000;
const NEWLINE = 10;
const RETURN = 13;

/** The same response with a body that ends in `provider_answer_too_large` at its limits. */
export function limitResponse(
  response: Response,
  limits: SizeLimits,
  onChunk: () => void = () => {},
): Response {
  if (!response.body) return response;
  const take = response.ok ? refuseAbove(limits) : cutAt(ERROR_BYTES);
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        onChunk();
        const { taken, error, isLast = false } = take(value);
        if (taken) controller.enqueue(taken);
        if (isLast) controller.close();
        if (error) controller.error(error);
        if (isLast || error) await reader.cancel();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // A chunk is asked for when somebody wants it.
    { highWaterMark: 0 },
  );
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

/** What becomes of a chunk. */
type Taken = {
  readonly taken?: Uint8Array;
  readonly error?: DialecticError;
  readonly isLast?: boolean;
};
type Take = (chunk: Uint8Array) => Taken;

function refuseAbove({ bodyBytes, eventBytes, eventLines }: SizeLimits): Take {
  let read = 0;
  const event = countEvent();
  return (chunk) => {
    read += chunk.length;
    event.add(chunk);
    if (read > bodyBytes) return { error: tooLarge('answer', bodyBytes, 'bytes') };
    if (event.bytes > eventBytes) return { error: tooLarge('event', eventBytes, 'bytes') };
    if (event.lines > eventLines) return { error: tooLarge('event', eventLines, 'lines') };
    return { taken: chunk };
  };
}

/** The error is known by its status; the rest of what is said about it is left unread. */
function cutAt(most: number): Take {
  let read = 0;
  return (chunk) => {
    const taken = chunk.subarray(0, most - read);
    read += chunk.length;
    return { taken, isLast: read >= most };
  };
}

/** Counts the bytes and the lines since the last blank line. */
function countEvent() {
  let atLineStart = true;
  return {
    bytes: 0,
    lines: 0,
    add(chunk: Uint8Array): void {
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
        this.bytes += end + 1 - from;
        this.lines++;
        if (atLineStart && isBlank(chunk, from, end)) this.bytes = this.lines = 0;
        atLineStart = true;
        from = end + 1;
      }
      this.bytes += chunk.length - from;
      atLineStart &&= isBlank(chunk, from, chunk.length);
    },
  };
}

function isBlank(chunk: Uint8Array, from: number, end: number): boolean {
  let at = from;
  while (at < end && chunk[at] === RETURN) at++;
  return at === end;
}

function tooLarge(what: string, most: number, unit: string): DialecticError {
  const size = `${most.toLocaleString('en')} ${unit}`;
  const message = `The provider sent an ${what} of more than ${size}; the rest was not read.`;
  return new DialecticError('provider_answer_too_large', message, { details: { most, unit } });
}
