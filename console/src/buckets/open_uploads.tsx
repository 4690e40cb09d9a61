// Multipart uploads that were neither completed nor aborted, by any client.
import { messageOf } from '../api.ts';
import { Alert, Panel, SimpleTable } from '../components/basic.tsx';
import { Name } from '../components/name.tsx';
import { notify } from '../components/toast.tsx';
import { dateTime } from '../lib/format.ts';
import { useLoading } from '../lib/loading.ts';
import { abortUpload, listUploads, type OpenUpload } from '../s3.ts';

export function OpenUploads(props: { namespace: string; bucket: string }) {
  const { namespace, bucket } = props;
  const { value, problem, reload } = useLoading(() => listUploads(namespace, bucket), [namespace, bucket]);
  const abort = async ({ key, id }: OpenUpload) => {
    try {
      await abortUpload({ namespace, bucket, key }, id);
      notify('info', 'The upload was aborted; its parts are removed.');
    } catch (error) {
      notify('error', messageOf(error));
    }
    reload();
  };
  return (
    <Panel
      title="Unfinished multipart uploads"
      flush
      actions={
        <button type="button" class="button small" onClick={reload}>
          Refresh
        </button>
      }
    >
      {problem && <Alert kind="error">{problem}</Alert>}
      {value && (
        <SimpleTable
          label="Uploads that were neither completed nor aborted"
          rows={value}
          rowKey={({ id }) => id}
          empty="There are none."
          columns={[
            { title: 'Key', cell: ({ key }) => <Name text={key} /> },
            { title: 'Started', cell: ({ initiated }) => dateTime(initiated) },
            { title: 'Upload', cell: ({ id }) => <span class="mono">{id.slice(0, 16)}…</span> },
            {
              title: 'Action',
              cell: (one) => (
                <button type="button" class="button small danger" onClick={() => void abort(one)}>
                  Abort
                </button>
              ),
            },
          ]}
        />
      )}
    </Panel>
  );
}
