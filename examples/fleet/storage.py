"""Files of any file system, by their URI, in pieces: nothing here holds a whole dump in memory.

Local paths need nothing. Other file systems (s3, gs, hdfs, abfs, …) need pyarrow on the workers; what pyarrow does not
know is copied by Hadoop's command line, which knows all that Spark reads.
"""

import functools
import hashlib
import os
import shutil
import subprocess
import uuid
from urllib.parse import unquote, urlparse

PIECE = 1 << 20


def local_path(uri):
    """The path of a local file; None if it is elsewhere."""
    parsed = urlparse(uri)
    if parsed.scheme in ("", "file"):
        return unquote(parsed.path) if parsed.scheme else uri
    return None


def _arrow(uri):
    """pyarrow's file system for a URI, and the path in it; None if it has none."""
    try:
        from pyarrow.fs import FileSystem

        # Hadoop calls it s3a, everybody else s3.
        return FileSystem.from_uri(uri.replace("s3a://", "s3://", 1))
    except (ImportError, ValueError):
        return None
    except OSError:
        # For these, pyarrow needs a library of Hadoop, which the worker may not have.
        if urlparse(uri).scheme in ("hdfs", "viewfs"):
            return None
        raise


def _hadoop(*arguments):
    """Starts a command of Hadoop's file system shell, whose errors go to the log of the worker."""
    try:
        return subprocess.Popen(["hadoop", "fs", *arguments], stdout=subprocess.PIPE)
    except FileNotFoundError:
        raise OSError(f"{arguments[-1]}: neither pyarrow nor the command hadoop is there for this file system") from None


@functools.cache
def _make_folder(uri):
    """A command takes seconds, and most dumps have the folders of others."""
    _run_hadoop("-mkdir", "-p", uri)


def _run_hadoop(*arguments):
    with _hadoop(*arguments) as process:
        process.wait()
    _check(process, arguments[-1])


def _check(process, uri):
    if process.returncode != 0:
        raise OSError(f"{uri}: {' '.join(process.args[:3])} ended with {process.returncode}")


def _copy(source, target):
    """Copies an open file, and returns the SHA-256 of its bytes."""
    digest = hashlib.sha256()
    while piece := source.read(PIECE):
        digest.update(piece)
        if target is not None:
            target.write(piece)
    return digest.hexdigest()


def fetch(uri, target=None):
    """Reads a file, copies it to the local path `target` if there is one, and returns its SHA-256."""
    path = local_path(uri)
    if path is not None:
        with open(path, "rb") as source:
            return _to(source, target)
    found = _arrow(uri)
    if found is not None:
        file_system, path = found
        with file_system.open_input_stream(path) as source:
            return _to(source, target)
    with _hadoop("-cat", uri) as process:
        digest = _to(process.stdout, target)
    _check(process, uri)
    return digest


def _to(source, target):
    if target is None:
        return _copy(source, None)
    with open(target, "wb") as file:
        return _copy(source, file)


def publish(file, folder, path):
    """Copies a local file to `folder`/`path`, where it appears when it is complete."""
    local = local_path(folder)
    if local is not None:
        final = os.path.join(local, path)
        os.makedirs(os.path.dirname(final), exist_ok=True)
        # Engines do not read names that begin with a dot.
        partial = os.path.join(os.path.dirname(final), f".{uuid.uuid4().hex}")
        shutil.copyfile(file, partial)
        os.replace(partial, final)
        return
    uri = f"{folder.rstrip('/')}/{path}"
    found = _arrow(uri)
    if found is None:
        _make_folder(uri.rsplit("/", 1)[0])
        # It writes to a temporary name, and renames.
        _run_hadoop("-put", "-f", file, uri)
        return
    file_system, final = found
    if file_system.type_name in ("s3", "gcs", "abfs"):
        # An object appears when it is complete.
        _put(file_system, file, final)
        return
    parent, name = final.rsplit("/", 1)
    file_system.create_dir(parent, recursive=True)
    partial = f"{parent}/.{name}.{uuid.uuid4().hex}"
    _put(file_system, file, partial)
    file_system.move(partial, final)


def _put(file_system, file, path):
    with open(file, "rb") as source, file_system.open_output_stream(path) as target:
        shutil.copyfileobj(source, target, PIECE)
