import { activeSteps, deriveEdges, type Edge, orderInWaves, withoutImplied } from './edges.ts';
import { escapeXml, estimateWidth, fitText, splitText } from './svg-text.ts';
import type { Process, Stage, Step } from './types.ts';

const NODE = { minWidth: 170, maxWidth: 262, gapX: 64, gapY: 14, pad: 12 };
const LINE = { name: 17, detail: 14 };
const BAND = { pad: 20, title: 34, gap: 36, margin: 20 };
const SIZE = { title: 20, stage: 15, name: 13, detail: 11 };
const HEAD = 56;
const LEGEND = 40;

// Attributes, since a strict content policy refuses style elements in a page that holds the picture.
const INK = {
  text: '#1f2933',
  faint: '#52606d',
  line: '#7b8fa6',
  plan: '#eaf1f8',
  gate: '#b44d12',
};

type NodeSize = { readonly width: number; readonly height: number };
type Box = { readonly step: Step; readonly x: number; readonly y: number };
type Band = {
  readonly stage: Stage;
  readonly number: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly boxes: ReadonlyMap<string, Box>;
};

/** The process as a picture: a band for each stage, its steps in columns by topological wave. */
export function toSvg(process: Process): string {
  const node = measureNodes(process);
  const bands: Band[] = [];
  for (const stage of process.stages) {
    const last = bands.at(-1);
    const y = last === undefined ? HEAD : last.y + last.height + BAND.gap;
    bands.push(layOutBand(stage, bands.length + 1, y, node));
  }
  const inner = Math.max(...bands.map((band) => band.width), 560);
  const bottom = bands.at(-1);
  const width = inner + 2 * BAND.margin;
  const height = (bottom === undefined ? HEAD : bottom.y + bottom.height) + LEGEND;
  const name = fitText(process.name, SIZE.title, inner);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, sans-serif">`,
    `<title>${escapeXml(process.name)}</title>`,
    ARROW,
    `<rect class="page" width="${width}" height="${height}" fill="#ffffff"/>`,
    drawText('process', BAND.margin, 36, SIZE.title, INK.text, name, ' font-weight="600"'),
    ...bands.map((band) => drawBand(band, inner, node)),
    ...process.transitions.map(({ from, to, gate }) => drawTransition(bands, from, to, gate)),
    drawLegend(height - LEGEND / 2 + 4),
    '</svg>\n',
  ].join('\n');
}

/** One size for all boxes, so that columns line up from stage to stage. */
function measureNodes(process: Process): NodeSize {
  const steps = process.stages.flatMap(activeSteps);
  const widths = steps.flatMap((step) => [
    estimateWidth(step.name, SIZE.name),
    ...detailsOf(step).map((detail) => estimateWidth(detail, SIZE.detail)),
  ]);
  const widest = Math.ceil(Math.max(...widths, 0)) + 2 * NODE.pad;
  const width = Math.min(Math.max(widest, NODE.minWidth), NODE.maxWidth);
  const lines = Math.max(...steps.map((step) => nameLines(step, width).length), 1);
  return { width, height: lines * LINE.name + 2 * LINE.detail + 18 };
}

const nameLines = (step: Step, width: number): string[] =>
  splitText(step.name, SIZE.name, width - 2 * NODE.pad);

const detailsOf = (step: Step): string[] => [
  step.output.documentKey,
  step.granularity.replaceAll('_', ' '),
];

function layOutBand(stage: Stage, number: number, y: number, node: NodeSize): Band {
  const steps = new Map(activeSteps(stage).map((step) => [step.key, step]));
  const waves = orderInWaves(stage);
  const rows = Math.max(...waves.map((wave) => wave.length), 1);
  const rowHeight = node.height + NODE.gapY;
  const boxes = new Map<string, Box>();
  for (const [column, wave] of waves.entries()) {
    const x = BAND.margin + BAND.pad + column * (node.width + NODE.gapX);
    const top = y + BAND.title + ((rows - wave.length) * rowHeight) / 2;
    for (const [row, key] of wave.entries()) {
      const step = steps.get(key);
      if (step !== undefined) boxes.set(key, { step, x, y: top + row * rowHeight });
    }
  }
  const width = waves.length * (node.width + NODE.gapX) - NODE.gapX + 2 * BAND.pad;
  const height = BAND.title + rows * rowHeight - NODE.gapY + BAND.pad;
  return { stage, number, y, width, height, boxes };
}

function drawBand(band: Band, width: number, node: NodeSize): string {
  const { stage, number, y, height, boxes } = band;
  const x = BAND.margin;
  const frame =
    `<rect class="band" x="${x}" y="${y}" width="${width}" height="${height}" rx="10" ` +
    'fill="#f5f7fa" stroke="#d5dce4"/>';
  const name = fitText(`${number}. ${stage.name}`, SIZE.stage, width - 2 * BAND.pad);
  const bold = ' font-weight="600"';
  const title = drawText('stage', x + BAND.pad, y + 23, SIZE.stage, INK.text, name, bold);
  const edges = withoutImplied(deriveEdges(stage));
  return [
    frame,
    title,
    ...edges.map((edge) => drawEdge(edge, boxes, node)),
    ...[...boxes.values()].map((box) => drawBox(box, node)),
  ].join('\n');
}

function drawBox({ step, x, y }: Box, { width, height }: NodeSize): string {
  const plan = step.jobType === 'PLAN';
  const middle = x + width / 2;
  const names = nameLines(step, width);
  const room = width - 2 * NODE.pad;
  let at = y + (height - names.length * LINE.name - 2 * LINE.detail) / 2 - 2;
  const line = (kind: 'name' | 'detail', text: string): string => {
    at += LINE[kind];
    const colour = kind === 'name' ? INK.text : INK.faint;
    return drawText(kind, middle, at, SIZE[kind], colour, text, ' text-anchor="middle"');
  };
  return [
    `<g><title>${escapeXml(`${step.name}: ${detailsOf(step).join(', ')}`)}</title>`,
    `<rect class="step" x="${x}" y="${y}" width="${width}" height="${height}" `,
    `rx="${plan ? 24 : 6}" fill="${plan ? INK.plan : '#ffffff'}" stroke="#486581"/>`,
    ...names.map((name) => line('name', name)),
    ...detailsOf(step).map((detail) => line('detail', fitText(detail, SIZE.detail, room))),
    '</g>',
  ].join('');
}

function drawEdge(edge: Edge, boxes: ReadonlyMap<string, Box>, node: NodeSize): string {
  const [from, to] = [boxes.get(edge.from), boxes.get(edge.to)];
  if (from === undefined || to === undefined) return '';
  const [x1, y1] = [from.x + node.width, from.y + node.height / 2];
  const [x2, y2] = [to.x - 2, to.y + node.height / 2];
  const bend = NODE.gapX / 2;
  const curve = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  return drawLine('edge', curve, edge.allLanes || !edge.required, 1.4);
}

const drawLine = (name: string, path: string, dashed: boolean, width: number): string =>
  `<path class="${name}" d="${path}" fill="none" stroke="${INK.line}" stroke-width="${width}"` +
  `${dashed ? ' stroke-dasharray="5 4"' : ''} marker-end="url(#arrow)"/>`;

function drawTransition(bands: readonly Band[], from: string, to: string, gate: boolean): string {
  const [start, end] = [from, to].map((key) => bands.find((band) => band.stage.key === key));
  if (start === undefined || end === undefined) return '';
  const x = BAND.margin + BAND.pad + 60;
  const y = start.y + start.height;
  const line = drawLine('next', `M${x} ${y}L${x} ${end.y - 2}`, false, 2.4);
  if (!gate) return line;
  const middle = y + BAND.gap / 2 + 4;
  return line + drawText('gate', x + 12, middle, 12, INK.gate, 'waits for approval', '');
}

function drawLegend(y: number): string {
  const x = BAND.margin;
  const text = (at: number, words: string): string =>
    drawText('legend', x + at, y, SIZE.detail, INK.faint, words, '');
  return [
    `<rect x="${x}" y="${y - 10}" width="26" height="12" rx="6" fill="${INK.plan}" `,
    'stroke="#486581"/>',
    text(34, 'plans for other steps'),
    drawLine('sample', `M${x + 190} ${y - 4}L${x + 226} ${y - 4}`, true, 1.4),
    text(236, 'waits for every participant, or for what is optional'),
  ].join('');
}

function drawText(
  name: string,
  x: number,
  y: number,
  size: number,
  colour: string,
  text: string,
  more: string,
): string {
  const place = `x="${x}" y="${y}" font-size="${size}" fill="${colour}"${more}`;
  return `<text class="${name}" ${place}>${escapeXml(text)}</text>`;
}

const ARROW =
  '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" ' +
  `orient="auto" markerUnits="userSpaceOnUse"><path d="M0 0L8 4L0 8Z" fill="${INK.line}"/>` +
  '</marker></defs>';
