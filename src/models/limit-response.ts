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
  const limit = response.ok ? refuseAbove(limits, onChunk) : cutAt(ERROR_BYTES, onChunk);
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
}

type Bytes = TransformStream<Uint8Array, Uint8Array>;

function refuseAbove(limits: SizeLimits, onChunk: () => void): Bytes {
  const { bodyBytes, eventBytes, eventLines } = limits;
  let read = 0;
  const event = countEvent();
  return new TransformStream({
    transform(chunk, controller) {
      onChunk();
      read += chunk.length;
      event.add(chunk);
      if (read > bodyBytes) controller.error(tooLarge('answer', bodyBytes, 'bytes'));
      else if (event.bytes > eventBytes) controller.error(tooLarge('event', eventBytes, 'bytes'));
      else if (event.lines > eventLines) controller.error(tooLarge('event', eventLines, 'lines'));
      else controller.enqueue(chunk);
    },
  });
}

/** The error is known by its status; the rest of what is said about it is left unread. */
function cutAt(most: number, onChunk: () => void): Bytes {
  let read = 0;
  return new TransformStream({
    transform(chunk, controller) {
      onChunk();
      controller.enqueue(chunk.subarray(0, most - read));
      read += chunk.length;
      if (read >= most) controller.terminate();
    },
  });
}

/** Counts the bytes and the lines since the last blank line. */
function countEvent() {
  let atLineStart = true;
  return {
    bytes: 0,
    lines: 0,
    add(chunk: Uint8Array): void {
      for (const byte of chunk) {
        this.bytes++;
        if (byte === NEWLINE) {
          this.lines++;
          if (atLineStart) this.bytes = this.lines = 0;
          atLineStart = true;
        } else if (byte !== RETURN) atLineStart = false;
      }
    },
  };
}

function tooLarge(what: string, most: number, unit: string): DialecticError {
  const size = `${most.toLocaleString('en')} ${unit}`;
  const message = `The provider sent an ${what} of more than ${size}; the rest was not read.`;
  return new DialecticError('provider_answer_too_large', message, { details: { most, unit } });
}
