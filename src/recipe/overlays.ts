import type { Overlay } from './types.ts';

/** An overlay with nothing missing, as prompts see it. */
export type MergedOverlay = {
  readonly role: string;
  readonly standards: readonly string[];
  readonly style: string;
};

type OverlayLayers = {
  readonly system?: Overlay | undefined;
  readonly domain?: Overlay | undefined;
  readonly project?: Overlay | undefined;
  readonly session?: Overlay | undefined;
};

/** A later role or style replaces the earlier one; standards add up without repetition. */
export function mergeOverlays(layers: OverlayLayers): MergedOverlay {
  const ordered = [layers.system, layers.domain, layers.project, layers.session];
  const standards = ordered.flatMap((layer) => layer?.standards ?? []);
  return {
    role: ordered.findLast((layer) => layer?.role !== undefined)?.role ?? '',
    standards: [...new Set(standards)],
    style: ordered.findLast((layer) => layer?.style !== undefined)?.style ?? '',
  };
}
