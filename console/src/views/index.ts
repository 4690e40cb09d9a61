// The views, in the order of their tabs. Each is a file of this folder. All but the first are loaded when they are first shown.
// To add one, add a row.
import type { ComponentType } from 'preact';
import { lazy } from '../components/lazy.tsx';
import { filterNames } from '../lib/entry.ts';
import Overview from './overview.tsx';

export interface View {
  name: string; // The first segment of its address: `#/NAME`.
  title: string;
  component: ComponentType;
  keeps?: readonly string[]; // Parameters that its tab has again after another view was shown.
}

export const views: readonly View[] = [
  { name: 'overview', title: 'Overview', component: Overview },
  { name: 'requests', title: 'Requests', component: lazy(() => import('./requests.tsx')), keeps: filterNames },
  { name: 'buckets', title: 'Buckets', component: lazy(() => import('./buckets.tsx')) },
  { name: 'ranges', title: 'Ranges', component: lazy(() => import('./ranges.tsx')) },
  { name: 'throttle', title: 'Throttle', component: lazy(() => import('./throttle.tsx')), keeps: ['bucket'] },
  { name: 'faults', title: 'Faults', component: lazy(() => import('./faults.tsx')) },
  { name: 'clock', title: 'Clock and lifecycle', component: lazy(() => import('./clock.tsx')) },
  { name: 'access', title: 'Access', component: lazy(() => import('./access.tsx')) },
];
