// The views, in the order of their tabs. Each is a file of this folder, loaded when it is first shown. To add one, add a row.
import type { ComponentType } from 'preact';

export interface View {
  name: string; // The first segment of its address: `#/NAME`.
  title: string;
  load: () => Promise<{ default: ComponentType }>;
}

export const views: readonly View[] = [
  { name: 'overview', title: 'Overview', load: () => import('./overview.tsx') },
  { name: 'requests', title: 'Requests', load: () => import('./requests.tsx') },
  { name: 'buckets', title: 'Buckets', load: () => import('./buckets.tsx') },
  { name: 'ranges', title: 'Ranges', load: () => import('./ranges.tsx') },
  { name: 'throttle', title: 'Throttle', load: () => import('./throttle.tsx') },
  { name: 'faults', title: 'Faults', load: () => import('./faults.tsx') },
  { name: 'clock', title: 'Clock and lifecycle', load: () => import('./clock.tsx') },
  { name: 'access', title: 'Access', load: () => import('./access.tsx') },
];
