import Essentials
import KVStoreLedger
import KVStoreLog
import LocalFiles

/// The exchange of a directory's data for what a restore has prepared.
///
///     restore.new/             a restore that is being prepared; the next one removes it
///     restore/                 a prepared one, which whoever locks the log finishes
///         log/                 the segments to put in place; their former ones are being moved aside
///         placing/             the same, when all former ones are aside
///         devices.json, …      files to put in place
///         former/              copies of the files, and the segments, that are replaced
///     before-restore-<time>/   what was replaced
///
/// Everything in `restore.new` is durable before it is renamed to `restore`. From then on each step is a rename, and
/// finding the same directories again continues with it. The log's directory and its lock stay, so that no server can
/// start in between; readers without the lock see `restore` and refuse.
struct PreparedRestore {
    let directory: DataDirectory
    /// Called before each change; tests inject a failure, which leaves what a killed process would.
    var willChange: () throws(FileError) -> Void = { () throws(FileError) in }

    private var preparation: String { directory.path + "/restore.new" }
    private var path: String { directory.path + "/restore" }
    private var former: String { path + "/former" }
    private var staged: String { path + "/log" }
    private var placing: String { path + "/placing" }

    func isPending() throws(ServerError) -> Bool {
        try ServerError.wrapping { () throws(FileError) in try FileStatus(path: path) != nil }
    }

    /// Prepares a log and files, and puts them in place, durably; returns the directory with what was replaced, nil if
    /// there was nothing.
    ///
    /// Nothing is changed when it throws before everything is prepared. After that the next process that locks the
    /// directory finishes it.
    ///
    /// - Parameters:
    ///   - write: is called with an empty storage, before anything is replaced; returns the files.
    ///   - commit: is called when everything is prepared durably. If it throws, nothing is replaced.
    func perform(
        _ write: (FileLogStorage) throws(ServerError) -> [AttachedFile], commit: () throws(ServerError) -> Void = {}
    ) throws(ServerError) -> String? {
        // Against a change of the devices between the copy that is kept and the exchange.
        try directory.deviceFile.file.locked { () throws(ServerError) in
            do throws(ServerError) { try prepare(write) } catch {
                // Otherwise the next restore removes it.
                try? removePreparation()
                throw error
            }
            try commit()
            return try ServerError.wrapping { () throws(FileError) in
                try move(preparation, to: path)
                try LocalDirectory(directory.path).flush()
                return try finish()
            }
        }
    }

    private func prepare(_ write: (FileLogStorage) throws(ServerError) -> [AttachedFile]) throws(ServerError) {
        let log = preparation + "/log"
        let storage = try ServerError.wrapping { () throws(FileError) in
            try willChange()
            try removePreparation()
            try LocalDirectory(preparation + "/former/log").create()
            try willChange()
            return try FileLogStorage(directory: log)
        }
        let files = try write(storage)
        try ServerError.wrapping { () throws(FileError) in
            for file in files {
                try willChange()
                let present = LocalFile(directory.path + "/" + file.name)
                if let content = try present.read(byteLimit: .max) {
                    try LocalFile(preparation + "/former/" + file.name).replace(with: content.data)
                }
                try LocalFile(preparation + "/" + file.name).replace(with: file.content)
            }
            try LocalFile(log + "/lock").remove()
            for path in [preparation + "/former", preparation] { try LocalDirectory(path).flush() }
        }
    }

    private func removePreparation() throws(FileError) {
        guard try FileStatus(path: preparation) != nil else { return }
        try LocalDirectory(preparation).removeAll()
    }

    /// Puts everything in its place; returns the directory with what was replaced, nil if that was nothing. The caller
    /// holds the lock of the log.
    func finish() throws(FileError) -> String? {
        if try FileStatus(path: staged) != nil {
            try moveAll(from: directory.logPath, to: former + "/log")
            try move(staged, to: placing)
            try LocalDirectory(path).flush()
        }
        if try FileStatus(path: placing) != nil {
            try moveAll(from: placing, to: directory.logPath)
            try removeDirectory(placing)
        }
        for name in DirectoryBackup.limits.keys.sorted()
        where try FileStatus(path: path + "/" + name) != nil {
            try move(path + "/" + name, to: directory.path + "/" + name)
        }
        try LocalDirectory(directory.path).flush()
        let aside = try keepFormer()
        try removeDirectory(path)
        try LocalDirectory(directory.path).flush()
        return aside
    }

    private func keepFormer() throws(FileError) -> String? {
        guard try FileStatus(path: former) != nil else { return nil }
        let log = former + "/log"
        if try FileStatus(path: log) != nil, try LocalDirectory(log).entries().entries.isEmpty {
            try removeDirectory(log)
        }
        guard try !LocalDirectory(former).entries().entries.isEmpty else {
            try removeDirectory(former)
            return nil
        }
        let aside = try freeName()
        try move(former, to: aside)
        return aside
    }

    private func freeName() throws(FileError) -> String {
        let time = Date().formatted(
            .iso8601.year().month().day().dateSeparator(.omitted).time(includingFractionalSeconds: false)
                .timeSeparator(.omitted))
        let name = directory.path + "/before-restore-" + time
        var (free, number) = (name, 1)
        while try FileStatus(path: free) != nil {
            number += 1
            free = "\(name)-\(number)"
        }
        return free
    }

    /// Moves all files but the lock.
    private func moveAll(from source: String, to target: String) throws(FileError) {
        for entry in try LocalDirectory(source).entries().entries where entry.name != "lock" {
            try move("\(source)/\(entry.name)", to: "\(target)/\(entry.name)")
        }
        for path in [target, source] { try LocalDirectory(path).flush() }
    }

    private func move(_ path: String, to target: String) throws(FileError) {
        try willChange()
        try LocalFile(path).rename(to: target)
    }

    private func removeDirectory(_ path: String) throws(FileError) {
        try willChange()
        try LocalDirectory(path).remove()
    }
}
