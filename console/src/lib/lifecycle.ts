// What lifecycle rules do, from /_penstock/lifecycle. Pure.
import { decodedParameter } from './keys.ts';

export interface LifecycleAction {
  action: string;
  bucket: string;
  key: string;
  version_id: string | null;
  upload_id: string | null;
  rule: string | null;
  date: string;
  size: number;
  from: string | null;
  to: string | null;
}

export interface LifecycleAccount {
  namespace: string;
  time: string | null;
  next: string | null;
  actions: number;
  buckets: readonly { name: string; locked: number; changed: number; failed: number; error: string | null }[];
  log: readonly LifecycleAction[];
  omitted: number;
}

const texts: Readonly<Record<string, string>> = {
  expire_object: 'delete',
  create_delete_marker: 'add a delete marker',
  expire_noncurrent_version: 'delete the noncurrent version',
  expire_delete_marker: 'delete the delete marker',
  transition: 'move',
  transition_noncurrent: 'move the noncurrent version',
  abort_upload: 'abort the upload',
  complete_restore: 'complete the restore',
  expire_restore: 'delete the restored copy',
};

export function actionText(action: LifecycleAction): string {
  const text = texts[action.action] ?? action.action;
  return action.to ? `${text} to ${action.to}` : text;
}

// What S3 says in a notification, as far as it has these members.
export interface Change {
  time: string;
  name: string;
  bucket: string;
  key: string;
}

interface Message {
  Records?: readonly { eventTime?: string; eventName?: string; s3?: { bucket?: { name?: string }; object?: { key?: string } } }[];
  time?: string;
  'detail-type'?: string;
  detail?: { bucket?: { name?: string }; object?: { key?: string } };
  Event?: string;
  Time?: string;
  Bucket?: string;
}

// Of a notification, an event of EventBridge, or the test message of a new configuration.
export function changeOf(message: unknown): Change {
  const { Records, detail, ...rest } = (message ?? {}) as Message;
  const record = Records?.[0];
  if (record) {
    // Keys of notifications are encoded as in a query.
    return { time: record.eventTime ?? '', name: record.eventName ?? '', bucket: record.s3?.bucket?.name ?? '', key: decodedParameter(record.s3?.object?.key ?? '') };
  }
  if (detail) return { time: rest.time ?? '', name: rest['detail-type'] ?? '', bucket: detail.bucket?.name ?? '', key: detail.object?.key ?? '' };
  return { time: rest.Time ?? '', name: rest.Event ?? '', bucket: rest.Bucket ?? '', key: '' };
}
