import Essentials
package import KVStoreLedger
import KVStoreLog
import KVStoreWire
import LocalFiles

/// What moves the data of a running server away needs: to read its log, to end it, and to keep the next one waiting
/// meanwhile.
extension DataDirectory {
    /// Reads the log of a server that may be running.
    package func followLog() throws(ServerError) -> LedgerFollower {
        try checkOwner()
        return LedgerFollower(
            try ServerError.wrapping { () throws(FileError) in
                try FileLogStorage(directory: logPath)
            }
        )
    }

    /// Runs `body` while no other process changes devices, accounts and codes.
    package func withDevices<Result>(
        _ body: (DeviceTable, PairingTable) throws(ServerError) -> Result
    ) throws(ServerError) -> Result {
        try pairingFile.change { pairings throws(ServerError) in
            try deviceFile.change { devices throws(ServerError) in try body(devices, pairings) }
        }
    }

    // MARK: - The last step

    private var moveLockPath: String { path + "/move.lock" }

    /// Makes servers that start wait until `body` has returned, or the process has ended.
    package func holdingServers<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws -> Result {
        let lock = try ServerError.wrapping { () throws(FileError) in
            let lock = try FileLock(moveLockPath)
            try lock.lock()
            return lock
        }
        defer {
            unlink(moveLockPath)
            lock.unlock()
        }
        return try body()
    }

    /// Returns when no last step of a move is under way.
    ///
    /// - Parameter note: is called before it waits.
    package func waitForMove(note: () -> Void) throws(ServerError) {
        guard FileManager.default.fileExists(atPath: moveLockPath) else { return }
        let isFree = try ServerError.wrapping { () throws(FileError) in
            let lock = try FileLock(moveLockPath)
            let deadline = ContinuousClock.now + .seconds(60)
            var isNoted = false
            while try !lock.lockIfAvailable() {
                guard ContinuousClock.now < deadline else { return false }
                if !isNoted { note() }
                isNoted = true
                usleep(5_000)
            }
            unlink(moveLockPath)
            return true
        }
        guard isFree else {
            throw ServerError(
                .inUse, "a move of the data of \(path) has not ended",
                hint: "wait for 'kvsd migrate', or end it")
        }
    }

    // MARK: - The server

    /// The process of the server that is running; nil if none answers.
    package func serverProcess() async -> Int32? {
        let report = await withTaskGroup(of: ServerReport?.self) { group in
            group.addTask { await reportSocket.read() }
            group.addTask {
                try? await Task.sleep(for: .seconds(5))
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        return report?.database == nil ? report?.processID : nil
    }

    /// Ends a server as SIGTERM does, which then starts again by itself when no move is under way.
    package static let moveSignal = SIGUSR1

    /// Ends a server, and locks its log when it has drained.
    ///
    /// - Parameter process: nil if none was found.
    /// - Throws: `inUse` if it cannot be ended, or another server is faster.
    package func endServer(_ process: Int32?) throws(ServerError) -> LogLock {
        if let process, kill(process, Self.moveSignal) != 0, errno != ESRCH {
            throw ServerError(
                .inUse,
                "kvsd (process \(process)) cannot be ended: \(String(cString: strerror(errno)))",
                hint: "run the command as the user of kvsd, or stop kvsd first; nothing has moved")
        }
        let deadline = ContinuousClock.now + .seconds(process == nil ? 0 : 15)
        let storage = try ServerError.wrapping { () throws(FileError) in
            try FileLogStorage(directory: logPath)
        }
        while true {
            let isLocked = try ServerError.wrapping { () throws(FileError) in
                try storage.lockIfFree()
            }
            if isLocked { return LogLock(storage: storage) }
            if let process, let other = try statusFile.read()?.processID, other != process {
                throw ServerError(
                    .inUse,
                    "kvsd was started again, as process \(other), before its data had moved",
                    hint: """
                        stop it where it is supervised, for example with 'systemctl stop kvsd', and run the \
                        command again: it continues
                        """)
            }
            guard ContinuousClock.now < deadline else {
                throw ServerError(
                    .inUse,
                    process.map { "kvsd (process \($0)) does not end" }
                        ?? "\(path) is in use, and no kvsd answers there",
                    hint: "stop it, and run the command again: it continues")
            }
            usleep(1_000)
        }
    }

    /// The log of a server that has ended; no other can use it while this exists.
    package struct LogLock {
        let storage: FileLogStorage

        /// Opens the log, and repairs what a server that was killed has left at its end.
        package func open() throws(ServerError) -> Ledger {
            try ServerError.wrapping { () throws(LogError) in
                try Ledger(storage: storage, seed: .random(in: 0 ... .max))
            }
        }
    }
}
