// The views, in the order of their tabs. Each is a file of this folder, loaded when it is first shown. To add one, add a row.
import type { ComponentType } from 'preact';
import { filterNames } from '../lib/entry.ts';

export interface View {
  name: string; // The first segment of its address: `#/NAME`.
  title: string;
  load: () => Promise<{ default: ComponentType }>;
  keeps?: readonly string[]; // Parameters that its tab has again after another view was shown.
}

export const views: readonly View[] = [
  { name: 'overview', title: 'Overview', load: () => import('./overview.tsx') },
  { name: 'requests', title: 'Requests', load: () => import('./requests.tsx'), keeps: filterNames },
  { name: 'buckets', title: 'Buckets', load: () => import('./buckets.tsx') },
  { name: 'ranges', title: 'Ranges', load: () => import('./ranges.tsx') },
  { name: 'throttle', title: 'Throttle', load: () => import('./throttle.tsx'), keeps: ['bucket'] },
  { name: 'faults', title: 'Faults', load: () => import('./faults.tsx') },
  { name: 'clock', title: 'Clock and lifecycle', load: () => import('./clock.tsx') },
  { name: 'access', title: 'Access', load: () => import('./access.tsx') },
];
