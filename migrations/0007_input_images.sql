-- Type and size of each image that an input came with, so that the queue can be read without their data.
ALTER TABLE input ADD COLUMN images TEXT;
UPDATE input SET images = (
  SELECT json_group_array(json_object('mime_type', image.value ->> 'mime_type', 'bytes',
    length(image.value ->> 'data') / 4 * 3 - length(image.value ->> 'data') + length(rtrim(image.value ->> 'data', '='))))
  FROM input_text, json_each(input_text.content) AS image
  WHERE input_text.input_id = input.id AND input_text.revision = 1 AND image.value ->> 'type' = 'image'
)
WHERE id IN (
  SELECT input_id FROM input_text, json_each(input_text.content) AS image WHERE revision = 1 AND image.value ->> 'type' = 'image'
);
-- Content that has words of its own was sent instead of the text: from now on the text of such an input is those words.
UPDATE input_text SET text = (
  SELECT group_concat(block.value ->> 'text', '') FROM json_each(content) AS block WHERE block.value ->> 'type' = 'text'
)
WHERE revision = 1 AND content IS NOT NULL AND (
  SELECT trim(coalesce(group_concat(block.value ->> 'text', ''), ''), char(32, 9, 10, 13)) FROM json_each(content) AS block WHERE block.value ->> 'type' = 'text'
) <> '';
