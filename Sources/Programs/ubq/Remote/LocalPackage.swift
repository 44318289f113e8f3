import Commands
import Essentials
import LocalFiles

/// The programs that are copied to a host.
struct LocalPackage {
    /// The local command that writes an archive to its standard output.
    let archiver: (program: String, arguments: [String])
    /// What unpacks it there.
    let script: String
    let isOfOwnKind: Bool

    /// Copies it to the host, in place of an earlier one.
    func send(to host: RemoteHost) throws(CommandFailure) {
        let outcome = host.run(script, inputOf: archiver.program, archiver.arguments)
        guard outcome.status == 0 else { throw CommandFailure(.ioError, outcome.reason) }
    }
}

extension LocalPackage {
    /// - Parameter file: a tarball; nil for the programs beside this one.
    init(file: String?) throws(CommandFailure) {
        if let file {
            guard FileManager.default.isReadableFile(atPath: file) else {
                throw CommandFailure(.noInput, "cannot read \(file); --package names the tarball of a release")
            }
            // All of it is in a directory with the version.
            self.init(
                archiver: ("cat", ["--", file]), script: RemoteScript.install(into: ".", stripped: 1),
                isOfOwnKind: false)
            return
        }
        let own = ProgramLocation.current(name: "ubq").path
        guard let real = realpath(own, nil) else { throw CommandFailure(.ioError, "cannot find \(own)") }
        defer { free(real) }
        self.init(directory: String(cString: real).split(separator: "/").dropLast().map { "/" + $0 }.joined())
    }

    /// - Parameter directory: has the programs, or links to one of them that is all.
    init(directory: String) {
        var files: [String] = []
        // kvsd, clip and link come along where they are the same file.
        var identities: Set<FileStatus.Identity> = []
        for name in ["ubq", "kvs", "usage-push", "usage-view", "kvsd", "ubiquity-clip", "ubiquity-link"] {
            // Some are not in this package.
            guard let status = try? FileStatus(path: directory + "/" + name) else { continue }
            let isNew = identities.insert(status.identity).inserted
            if !isNew || identities.count <= 4 { files.append(name) }
        }
        self.init(
            // A third of the time of gzip's default, for a tenth more bytes.
            archiver: ("tar", ["-C", directory, "--use-compress-program", "gzip -1", "-cf", "-", "--"] + files),
            script: RemoteScript.install(into: "bin", stripped: 0), isOfOwnKind: true)
    }
}
