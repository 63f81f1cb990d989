type Cell = string | number | boolean | Date | null | undefined;

/** A table for spreadsheets (RFC 4180). A text that a spreadsheet would run is made plain text. */
export function toCsv(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, Cell>>[],
): string[] {
  const cell = (value: Cell): string => {
    if (value === null || value === undefined) return '';
    if (value instanceof Date) return value.toISOString();
    if (typeof value !== 'string') return String(value);
    const plain = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  return [
    columns.join(','),
    ...rows.map((row) => columns.map((name) => cell(row[name])).join(',')),
  ];
}
