import { activeSteps, deriveEdges } from './edges.ts';
import type { Process, Stage } from './types.ts';

/**
 * The process as Mermaid text: a box for each stage, its steps and the order that follows from
 * their inputs. Dotted arrows wait for all lanes; a gate stands on the arrow between stages.
 */
export function toMermaid(process: Process): string {
  const lines = ['flowchart TB'];
  for (const [at, stage] of process.stages.entries()) lines.push(...stageLines(stage, at));
  for (const { from, to, gate } of process.transitions) {
    const [start, end] = [from, to].map((key) =>
      process.stages.findIndex((stage) => stage.key === key),
    );
    lines.push(`  stage${start} ${gate ? '==>|approval|' : '==>'} stage${end}`);
  }
  return `${lines.join('\n')}\n`;
}

function stageLines(stage: Stage, at: number): string[] {
  const ids = new Map(activeSteps(stage).map((step, index) => [step.key, `s${at}_${index}`]));
  const nodes = activeSteps(stage).map((step) => {
    const label = `${quote(step.name)}<br/><small>${quote(step.granularity)}</small>`;
    const [open, close] = step.jobType === 'PLAN' ? ['{{', '}}'] : ['[', ']'];
    return `    ${ids.get(step.key)}${open}"${label}"${close}`;
  });
  const edges = deriveEdges(stage).map((edge) => {
    const arrow = edge.allLanes || !edge.required ? '-.->' : '-->';
    return `    ${ids.get(edge.from)} ${arrow} ${ids.get(edge.to)}`;
  });
  const title = `  subgraph stage${at}["${quote(stage.name)}"]`;
  return [title, '    direction LR', ...nodes, ...edges, '  end'];
}

/** Mermaid reads entities between quotes, with a hash in place of the ampersand. */
const quote = (text: string): string =>
  text.replaceAll(/[#&<>"\n]/g, (unit) => `#${unit.charCodeAt(0)};`);
