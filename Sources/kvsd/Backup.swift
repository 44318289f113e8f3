import ArgumentParser
import Commands
import Essentials
import KVStoreLedger
import KVStoreLog
import KVStoreServer
import LocalFiles

#if PostgreSQL
    import KVStorePostgreSQL
#endif

struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write all data into one file, also while daemons run.",
        discussion: """
            The file contains every store with its history, the devices, config.json and the key of the \
            certificate: keep it as safe as the data directory. Everything acknowledged before the \
            command began is in it. It appears under its name only when it is complete; 'kvsd check \
            FILE' verifies it and 'kvsd restore FILE' brings it back, into a directory or a database. \
            A damaged log or database is not backed up.

            Of a database, the file has the key and certificate that the data directory has, and no \
            config.json.

              kvsd backup monday.backup
              kvsd backup monday.backup --database postgres:///kvsd --data /srv/node-a
              kvsd backup --replace /mnt/backup/kvsd.backup
              kvsd backup - | ssh nas 'cat > kvsd.backup'
            """)

    @Argument(help: "File to write; - for standard output.") var file: String
    @Flag(help: "Replace an existing file.") var replace = false
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var storage: StorageOption

    private struct Report: Encodable {
        var stores: Int
        var keys: Int
        var bytes: Int
        var file: String
    }

    private var isStandardOutput: Bool { file == "-" }

    func validate() throws {
        if isStandardOutput, json || replace {
            throw ValidationError("--json and --replace need a file")
        }
    }

    func run() throws {
        if isStandardOutput, Console.isOutputTerminal {
            throw CommandFailure(.usage, "standard output is a terminal; redirect it to a file")
        }
        if !isStandardOutput, !replace, FileManager.default.fileExists(atPath: file) {
            throw CommandFailure(.cannotCreate, "\(file) already exists; add --replace to replace it")
        }
        // What cannot be inspected cannot be written either, which says why.
        if !isStandardOutput, let kind = try? FileStatus(path: file)?.kind, kind != .file {
            throw CommandFailure(
                .cannotCreate, "\(file) is no file; to write into it, run kvsd backup - and redirect its output")
        }
        let backup = try source()
        let target = (try? LocalFile(file).resolvingLinks().path) ?? file  // As above.
        let summary = try isStandardOutput ? stream(backup) : backup.write(to: target, replacing: replace)
        if json {
            let report = Report(stores: summary.storeCount, keys: summary.keyCount, bytes: backup.byteCount, file: file)
            return try Console.printJSON(report)
        }
        let counts = "\(summary.counts), \(backup.byteCount) bytes"
        if isStandardOutput { return Console.report("backed up \(counts)") }
        try Console.print("Backed up \(counts) to \(file).")
    }

    private func source() throws -> any BackupSource {
        #if PostgreSQL
            if let database = try storage.openDatabase() {
                return try DatabaseBackup(of: database, with: storage.nodeDirectory, progress: Console.showProgress)
            }
        #endif
        let directory = try storage.logDirectory()
        guard directory.hasLog else { throw CommandFailure.noData(in: directory) }
        return try DirectoryBackup(of: directory)
    }

    /// A reader that goes away has half a backup, so unlike elsewhere that is an error.
    private func stream(_ backup: any BackupSource) throws -> BackupSummary {
        do { return try backup.write { try Console.write($0) } } catch let error as OutputError {
            throw CommandFailure(.ioError, error.description)
        }
    }
}

extension BackupSummary {
    var counts: String { Self.counts(storeCount, keyCount) }

    static func counts(_ stores: Int, _ keys: Int) -> String {
        "\(stores) store\(stores == 1 ? "" : "s"), \(keys) key\(keys == 1 ? "" : "s")"
    }

    var text: String {
        "\(Date(timeIntervalSince1970: Double(created) / 1_000).formatted(.iso8601)): \(counts)"
    }
}
