// The progress of uploads, and the files of a drop.
import { Badge, Panel } from '../components/basic.tsx';
import { Name } from '../components/name.tsx';
import { bytes, percent, plural } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { cancelUpload, forgetEnded, isActive, uploads, type Upload } from '../uploads.ts';

function UploadRow(props: { upload: Upload }) {
  const { id, address, phase, problem, sent, size } = props.upload;
  const share = size === 0 ? (phase === 'done' ? 1 : 0) : sent / size;
  return (
    <li class="upload">
      <span class="wrap-anywhere">
        <Name text={address.key} /> <span class="muted">in {address.bucket}</span>
      </span>
      {isActive(props.upload) ? (
        <>
          <progress max={1} value={share} aria-label={`Progress of ${address.key}`} />
          <span class="numbers">
            {percent(Math.floor(share * 100) / 100)} of {bytes(size)}
          </span>
          <button type="button" class="button small" onClick={() => cancelUpload(id)}>
            Cancel
          </button>
        </>
      ) : (
        <>
          <Badge tone={phase === 'done' ? 'ok' : phase === 'failed' ? 'error' : 'neutral'}>{phase}</Badge>
          <span class="numbers">{bytes(size)}</span>
        </>
      )}
      {problem && <span class="field-error upload-problem">{problem}</span>}
    </li>
  );
}

export function UploadsPanel() {
  const all = useStore(uploads);
  if (all.length === 0) return null;
  const active = all.filter(isActive).length;
  return (
    <Panel
      title={active > 0 ? `Uploading ${plural(active, 'file', 'files')}` : 'Uploads'}
      actions={
        <button type="button" class="button small" disabled={active === all.length} onClick={forgetEnded}>
          Remove ended
        </button>
      }
    >
      <ul class="uploads" tabIndex={0} aria-label="Uploads">
        {/* The latest first; a list of thousands would be slow. */}
        {all
          .toReversed()
          .slice(0, 100)
          .map((upload) => (
            <UploadRow key={upload.id} upload={upload} />
          ))}
      </ul>
    </Panel>
  );
}

export interface Dropped {
  file: File;
  path: string; // Relative, with the names of folders.
}

async function filesBelow(entry: FileSystemEntry, path: string): Promise<Dropped[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ file, path: path + entry.name }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const all: Dropped[] = [];
  for (;;) {
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) return all;
    for (const one of entries) all.push(...(await filesBelow(one, `${path}${entry.name}/`)));
  }
}

// Files and folders. To be called before the event ends: the browser empties `transfer` then.
export async function droppedFiles(transfer: DataTransfer): Promise<Dropped[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.length === 0) return [...transfer.files].map((file) => ({ file, path: file.name }));
  return (await Promise.all(entries.map((entry) => filesBelow(entry, '')))).flat();
}
