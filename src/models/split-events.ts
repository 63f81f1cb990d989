/** Takes pieces of a server-sent event stream and gives the data of the events that they complete. */
export type EventSplitter = (piece: string) => string[];

/**
 * Splits an event stream as its specification says: lines end in LF, CRLF or CR, those of an event up to
 * a blank one; an event that the stream cuts off is none. Only `data` is read.
 */
export function createEventSplitter(): EventSplitter {
  let begun = '';
  let skipsNewline = false;
  let data: string[] = [];

  function take(line: string, events: string[]): void {
    if (line === '') {
      if (data.length > 0) events.push(data.join('\n'));
      data = [];
    } else if (line === 'data') data.push('');
    else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
  }

  return (piece) => {
    const events: string[] = [];
    // The CR at the end of the last piece has ended its line; an LF behind it belongs to it.
    let from = skipsNewline && piece.startsWith('\n') ? 1 : 0;
    if (piece !== '') skipsNewline = piece.endsWith('\r');
    for (let end = endOfLine(piece, from); end !== -1; end = endOfLine(piece, from)) {
      take(begun + piece.slice(from, end), events);
      begun = '';
      from = end + (piece.startsWith('\r\n', end) ? 2 : 1);
    }
    begun += piece.slice(from);
    return events;
  };
}

function endOfLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from);
  const end = text.slice(from, newline === -1 ? undefined : newline).indexOf('\r');
  return end === -1 ? newline : from + end;
}
