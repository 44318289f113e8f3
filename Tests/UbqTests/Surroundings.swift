import Foundation
import TestSupport
import Testing

/// Programs under which others find themselves on another machine, at another time or as another user.
enum Surroundings {
    /// In a namespace of their own, where they may mount.
    static let mounts = ["/usr/bin/unshare", "--mount"] + asRoot
    /// On a machine of another name without a network, which shares the disk with this one.
    static let otherMachine = ["/usr/bin/unshare", "--uts", "--net"] + asRoot

    private static var asRoot: [String] { getuid() == 0 ? [] : ["--map-root-user"] }

    /// `faketime` itself would wait for programs that go on in the background.
    ///
    /// - Parameter time: from now, as `faketime` has it.
    static func clock(_ time: String) -> [String] {
        let library = #"$(faketime -f "$FAKETIME" env | grep ^LD_PRELOAD=)"#
        return [
            "/usr/bin/env", "DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1", "FAKETIME=" + time, "/bin/sh", "-c",
            #"export \#(library); exec "$@""#, "sh",
        ]
    }

    /// Root changes to nobody.
    static let ordinaryUser =
        getuid() == 0 ? ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []

    fileprivate static func canRun(_ wrapper: [String], _ script: String) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = wrapper + ["/bin/sh", "-c", script]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}

extension Trait where Self == ConditionTrait {
    static func requires(program: String) -> ConditionTrait {
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/" + program),
            "\(program) is not on this machine")
    }

    static var requiresMounts: ConditionTrait {
        .enabled("this user may not mount, not even in a namespace") {
            Surroundings.canRun(Surroundings.mounts, "mount -t tmpfs tmpfs /mnt")
        }
    }

    static var requiresOtherMachine: ConditionTrait {
        .enabled("this user may not name a machine, not even in a namespace") {
            Surroundings.canRun(Surroundings.otherMachine, "hostname other-machine")
        }
    }

    static var requiresOrdinaryUser: ConditionTrait {
        .enabled("an ordinary user cannot read the programs that were built, or setpriv is not on this machine") {
            let program = TemporaryHome.program("ubq")?.path ?? ""
            return Surroundings.canRun(Surroundings.ordinaryUser, "exec '\(program)' --version")
        }
    }
}
