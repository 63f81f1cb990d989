import { activeSteps, deriveEdges, type Edge, orderInWaves } from './edges.ts';
import type { Process, Stage, Step } from './types.ts';

const NODE = { width: 220, height: 46, gapX: 56, gapY: 14 };
const BAND = { pad: 20, title: 30, gap: 34, margin: 16 };

type Box = { readonly step: Step; readonly x: number; readonly y: number };
type Band = {
  readonly stage: Stage;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly boxes: ReadonlyMap<string, Box>;
};

/** The process as a picture: a band for each stage, its steps in columns by topological wave. */
export function toSvg(process: Process): string {
  const bands: Band[] = [];
  for (const stage of process.stages) {
    const last = bands.at(-1);
    bands.push(
      layOutBand(stage, last === undefined ? BAND.margin : last.y + last.height + BAND.gap),
    );
  }
  const inner = Math.max(...bands.map((band) => band.width), NODE.width);
  const bottom = bands.at(-1);
  const width = inner + 2 * BAND.margin;
  const height = (bottom === undefined ? 0 : bottom.y + bottom.height) + BAND.margin;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escapeXml(process.name)}</title>`,
    STYLE,
    ARROW,
    ...bands.map((band) => drawBand(band, inner)),
    ...process.transitions.map(({ from, to, gate }) => drawTransition(bands, from, to, gate)),
    '</svg>\n',
  ].join('\n');
}

function layOutBand(stage: Stage, y: number): Band {
  const steps = new Map(activeSteps(stage).map((step) => [step.key, step]));
  const waves = orderInWaves(stage);
  const boxes = new Map<string, Box>();
  for (const [column, wave] of waves.entries()) {
    for (const [row, key] of wave.entries()) {
      const x = BAND.margin + BAND.pad + column * (NODE.width + NODE.gapX);
      const top = y + BAND.title + BAND.pad / 2 + row * (NODE.height + NODE.gapY);
      const step = steps.get(key);
      if (step !== undefined) boxes.set(key, { step, x, y: top });
    }
  }
  const rows = Math.max(...waves.map((wave) => wave.length), 1);
  return {
    stage,
    y,
    width: waves.length * (NODE.width + NODE.gapX) - NODE.gapX + 2 * BAND.pad,
    height: BAND.title + rows * (NODE.height + NODE.gapY) + BAND.pad / 2,
    boxes,
  };
}

function drawBand(band: Band, width: number): string {
  const { stage, y, height, boxes } = band;
  const frame = `<rect class="band" x="${BAND.margin}" y="${y}" width="${width}" height="${height}" rx="8"/>`;
  const titleX = BAND.margin + BAND.pad;
  const title = `<text class="stage" x="${titleX}" y="${y + 21}">${escapeXml(stage.name)}</text>`;
  const edges = deriveEdges(stage).map((edge) => drawEdge(edge, boxes));
  return [frame, title, ...edges, ...[...boxes.values()].map(drawBox)].join('\n');
}

function drawBox({ step, x, y }: Box): string {
  const { width, height } = NODE;
  const round = step.jobType === 'PLAN' ? height / 2 : 6;
  const name = escapeXml(shorten(step.name, 32));
  const detail = escapeXml(shorten(`${step.output.documentKey} · ${step.granularity}`, 40));
  return [
    `<g><title>${escapeXml(`${step.key}: ${step.name}`)}</title>`,
    `<rect class="step" x="${x}" y="${y}" width="${width}" height="${height}" rx="${round}"/>`,
    `<text class="name" x="${x + width / 2}" y="${y + 19}">${name}</text>`,
    `<text class="detail" x="${x + width / 2}" y="${y + 35}">${detail}</text></g>`,
  ].join('');
}

function drawEdge(edge: Edge, boxes: ReadonlyMap<string, Box>): string {
  const [from, to] = [boxes.get(edge.from), boxes.get(edge.to)];
  if (from === undefined || to === undefined) return '';
  const [x1, y1] = [from.x + NODE.width, from.y + NODE.height / 2];
  const [x2, y2] = [to.x, to.y + NODE.height / 2];
  const bend = NODE.gapX / 2;
  const curve = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  const waits = edge.allLanes || !edge.required ? ' waits' : '';
  return `<path class="edge${waits}" d="${curve}" marker-end="url(#arrow)"/>`;
}

function drawTransition(bands: readonly Band[], from: string, to: string, gate: boolean): string {
  const [start, end] = [from, to].map((key) => bands.find((band) => band.stage.key === key));
  if (start === undefined || end === undefined) return '';
  const x = BAND.margin + BAND.pad + NODE.width / 2;
  const y = start.y + start.height;
  const line = `<path class="next" d="M${x} ${y}L${x} ${end.y - 2}" marker-end="url(#arrow)"/>`;
  if (!gate) return line;
  return `${line}<text class="gate" x="${x + 10}" y="${y + BAND.gap / 2 + 4}">approval</text>`;
}

const STYLE = `<style>
text{font:13px system-ui,sans-serif;fill:#1f2933}
.stage{font-weight:600;font-size:15px}.name,.detail{text-anchor:middle}
.detail{font-size:10px;fill:#52606d}.gate{font-size:11px;fill:#b44d12}
.band{fill:#f5f7fa;stroke:#cbd2d9}.step{fill:#fff;stroke:#486581}
.edge,.next{fill:none;stroke:#829ab1;stroke-width:1.4}.next{stroke-width:2.4}
.waits{stroke-dasharray:5 4}#arrow path{fill:#829ab1}
</style>`;

const ARROW =
  '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" ' +
  'orient="auto" markerUnits="userSpaceOnUse"><path d="M0 0L8 4L0 8Z"/></marker></defs>';

function shorten(text: string, length: number): string {
  const units = Array.from(text);
  return units.length <= length ? text : `${units.slice(0, length - 1).join('')}…`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that is safe in an element; characters that XML forbids are replaced. */
const escapeXml = (text: string): string =>
  text
    .replaceAll(/[&<>"']/g, (unit) => ENTITIES[unit] ?? unit)
    .replaceAll(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, '\uFFFD');
