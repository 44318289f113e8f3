import KVStoreLog

extension Ledger {
    /// Bytes of the log's files, including space that is reserved in the newest.
    package var logByteCount: Int { log.fileByteCount }
}
