// Uploads of large files, in parts (tus 1.0).

const PART_BYTES = 8_388_608;

/** Uploads a file; returns the id of the upload. `onProgress` is told how many bytes arrived. */
export async function upload(api, file, onProgress) {
  const location = await api.startUpload(file.name, file.size);
  for (let offset = 0; offset < file.size; offset += PART_BYTES) {
    const part = file.slice(offset, offset + PART_BYTES);
    await api.sendPart(location, offset, part);
    onProgress(offset + part.size);
  }
  return location.split("/").at(-1);
}
