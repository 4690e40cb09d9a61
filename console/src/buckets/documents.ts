// The sub-resources of a bucket that have a document.

export interface DocumentKind {
  name: string; // The parameter of the query.
  title: string;
  json?: boolean;
  deletable?: boolean; // Otherwise an empty or other document takes its place.
  template: string;
}

const open = (name: string, content: string) => `<${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content && `\n${content}\n`}</${name}>\n`;

const policy = (bucket: string) => `{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Effect": "Allow",
      "Principal": "*",
      "Action": "s3:GetObject",
      "Resource": "arn:aws:s3:::${bucket}/*"
    }
  ]
}
`;

const lifecycle = `  <Rule>
    <ID>expire-temporary</ID>
    <Filter><Prefix>tmp/</Prefix></Filter>
    <Status>Enabled</Status>
    <Expiration><Days>7</Days></Expiration>
    <AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>
  </Rule>`;

const cors = `  <CORSRule>
    <AllowedOrigin>http://localhost:3000</AllowedOrigin>
    <AllowedMethod>GET</AllowedMethod>
    <AllowedHeader>*</AllowedHeader>
  </CORSRule>`;

const encryption = `  <Rule>
    <ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault>
  </Rule>`;

const notification = `  <QueueConfiguration>
    <Id>uploads</Id>
    <Queue>arn:aws:sqs:us-east-1:000000000000:uploads</Queue>
    <Event>s3:ObjectCreated:*</Event>
  </QueueConfiguration>`;

const lock = `  <ObjectLockEnabled>Enabled</ObjectLockEnabled>
  <Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>1</Days></DefaultRetention></Rule>`;

const publicAccess = ['BlockPublicAcls', 'IgnorePublicAcls', 'BlockPublicPolicy', 'RestrictPublicBuckets'].map((name) => `  <${name}>true</${name}>`).join('\n');

const website = '  <IndexDocument><Suffix>index.html</Suffix></IndexDocument>';

const replication = `  <Role>arn:aws:iam::000000000000:role/replication</Role>
  <Rule>
    <Status>Enabled</Status>
    <Prefix></Prefix>
    <Destination><Bucket>arn:aws:s3:::copies</Bucket></Destination>
  </Rule>`;

export function documentKinds(bucket: string): DocumentKind[] {
  return [
    { name: 'versioning', title: 'Versioning', template: open('VersioningConfiguration', '  <Status>Enabled</Status>') },
    { name: 'policy', title: 'Policy', json: true, deletable: true, template: policy(bucket) },
    { name: 'lifecycle', title: 'Lifecycle', deletable: true, template: open('LifecycleConfiguration', lifecycle) },
    { name: 'cors', title: 'CORS', deletable: true, template: open('CORSConfiguration', cors) },
    { name: 'encryption', title: 'Encryption', deletable: true, template: open('ServerSideEncryptionConfiguration', encryption) },
    { name: 'notification', title: 'Notification', template: open('NotificationConfiguration', notification) },
    { name: 'tagging', title: 'Tags', deletable: true, template: open('Tagging', '  <TagSet><Tag><Key>team</Key><Value>data</Value></Tag></TagSet>') },
    { name: 'object-lock', title: 'Object Lock', template: open('ObjectLockConfiguration', lock) },
    { name: 'ownershipControls', title: 'Ownership', deletable: true, template: open('OwnershipControls', '  <Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule>') },
    { name: 'publicAccessBlock', title: 'Public access block', deletable: true, template: open('PublicAccessBlockConfiguration', publicAccess) },
    { name: 'acl', title: 'ACL', template: open('AccessControlPolicy', '') },
    { name: 'requestPayment', title: 'Request payment', template: open('RequestPaymentConfiguration', '  <Payer>BucketOwner</Payer>') },
    { name: 'accelerate', title: 'Acceleration', template: open('AccelerateConfiguration', '  <Status>Enabled</Status>') },
    { name: 'logging', title: 'Logging', template: open('BucketLoggingStatus', '') },
    { name: 'website', title: 'Website', deletable: true, template: open('WebsiteConfiguration', website) },
    { name: 'replication', title: 'Replication', deletable: true, template: open('ReplicationConfiguration', replication) },
  ];
}
