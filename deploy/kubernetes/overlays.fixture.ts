import { buildOverlay, overlayFolder } from './checks/check-manifests.ts';

export const overlays = ['small', 'ha', 'large'] as const;

/** Builds the overlays of this repository. */
export async function buildOverlays() {
  const [small, ha, large] = await Promise.all([
    buildOverlay(overlayFolder('small')),
    buildOverlay(overlayFolder('ha')),
    buildOverlay(overlayFolder('large')),
  ]);
  return { small, ha, large };
}
