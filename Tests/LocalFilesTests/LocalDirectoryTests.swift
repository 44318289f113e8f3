import Foundation
import LocalFiles
import Testing

@Suite("Local directories")
struct LocalDirectoryTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test("missing parents are created for their owner alone; an existing directory keeps its mode")
    func creates() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        for _ in 1...2 { try LocalDirectory(directory.path + "/a/b/").create() }
        #expect(try directory.mode() == 0o755)
        #expect(try directory.mode("a") == 0o700)
        #expect(try directory.mode("a/b") == 0o700)
        #expect(directory.file("a/b/c").directory.path == directory.path + "/a/b")
    }

    @Test("a file in the way is an error that names it")
    func fileInTheWay() throws {
        let file = directory.file("file")
        try file.replace(with: Data())
        for path in [file.path, file.path + "/below/deeper"] {
            let error = #expect(throws: FileError.self) { try LocalDirectory(path).create() }
            #expect(error?.path == file.path)
            #expect(error?.cause == .notADirectory)
        }
    }

    @Test("a listing names every entry, and says when its limit left some out")
    func lists() throws {
        for name in ["a", "b", ".c"] { try directory.file(name).replace(with: Data()) }
        try LocalDirectory(directory.path + "/d").create()
        let all = try LocalDirectory(directory.path).entries()
        #expect(all.entries.map(\.name).sorted() == [".c", "a", "b", "d"])
        #expect(!all.hasMore)
        #expect(all.entries.allSatisfy { $0.name != "d" || !$0.isKnownFile })
        let some = try LocalDirectory(directory.path).entries(limit: 3)
        #expect(some.entries.count == 3)
        #expect(some.hasMore)
        #expect(try !LocalDirectory(directory.path).entries(limit: 4).hasMore)
        let error = #expect(throws: FileError.self) {
            try LocalDirectory(directory.path + "/none").entries()
        }
        #expect(error?.isMissing == true)
    }

    @Test("a lock excludes others until it is unlocked or deinitialized")
    func locks() throws {
        let path = directory.path + "/lock"
        var holder: FileLock? = try FileLock(path)
        let other = try FileLock(path)
        #expect(try directory.mode("lock") == 0o600)
        try holder?.lock()
        #expect(try !other.lockIfAvailable())
        holder?.unlock()
        #expect(try other.lockIfAvailable())
        #expect(try other.lockIfAvailable())
        other.unlock()
        #expect(try holder?.lockIfAvailable() == true)
        #expect(try !other.lockIfAvailable())
        holder = nil
        try other.lock()
        let error = #expect(throws: FileError.self) { try FileLock(path + "/below") }
        #expect(error?.operation == "open")
    }

    @Test("locking blocks until the lock is released")
    func waits() async throws {
        let path = directory.path + "/lock"
        let holder = try FileLock(path)
        try holder.lock()
        let (steps, continuation) = AsyncStream.makeStream(of: String.self)
        let thread = Thread {
            do {
                let lock = try FileLock(path)
                continuation.yield(try lock.lockIfAvailable() ? "free" : "taken")
                try lock.lock()
                continuation.yield("locked")
            } catch {
                continuation.yield("\(error)")
            }
            continuation.finish()
        }
        thread.start()
        var seen: [String] = []
        for await step in steps {
            seen.append(step)
            if step == "taken" { holder.unlock() }
        }
        #expect(seen == ["taken", "locked"])
    }

    @Test("of those who lock a file and remove its lock again, each is alone")
    func removes() async throws {
        let file = directory.file("counter")
        try file.replace(with: Data("0".utf8), durability: .cached)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for turn in 0..<100 {
                        let lock = try file.lock()
                        let text = try file.read(byteLimit: 9).map { String(decoding: $0.data, as: UTF8.self) }
                        let count = try #require(text.flatMap { Int($0) })
                        try file.replace(with: Data("\(count + 1)".utf8), durability: .cached)
                        if turn % 2 == 0 { try lock.remove() }
                        lock.unlock()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try file.read(byteLimit: 9)?.data == Data("800".utf8))
    }
}

@Suite("User directories")
struct UserDirectoriesTests {
    @Test("the product's own variable counts first, then XDG's, then the home directory")
    func precedence() {
        var environment = ["HOME": "/home/ada"]
        #expect(UserDirectories(environment: environment).home == "/home/ada")
        #expect(UserDirectories(environment: environment).data == "/home/ada/.local/share/ubiquity")
        #expect(UserDirectories(environment: environment).config == "/home/ada/.config/ubiquity")
        environment["XDG_DATA_HOME"] = "/data/"
        environment["XDG_CONFIG_HOME"] = "/config"
        #expect(UserDirectories(environment: environment).data == "/data/ubiquity")
        #expect(UserDirectories(environment: environment).config == "/config/ubiquity")
        environment["UBIQUITY_DATA_DIR"] = "/own/data/"
        environment["UBIQUITY_CONFIG_DIR"] = "/"
        #expect(UserDirectories(environment: environment).data == "/own/data")
        #expect(UserDirectories(environment: environment).config == "/")
    }

    @Test("relative and empty paths count as unset", arguments: ["", "data", "~/data"])
    func relative(path: String) {
        let environment = [
            "HOME": "/home/ada", "UBIQUITY_DATA_DIR": path, "XDG_DATA_HOME": path,
            "XDG_CONFIG_HOME": path, "UBIQUITY_CONFIG_DIR": path,
        ]
        #expect(UserDirectories(environment: environment).data == "/home/ada/.local/share/ubiquity")
        #expect(UserDirectories(environment: environment).config == "/home/ada/.config/ubiquity")
        #expect(UserDirectories(environment: ["HOME": path]).home.hasPrefix("/"))
    }
}
