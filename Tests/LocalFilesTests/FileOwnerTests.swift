import Foundation
import Testing

@testable import LocalFiles

@Suite("Files of another owner")
struct FileOwnerTests {
    @Test(
        "what one run by root has left is named with its owner and the command that mends it",
        .enabled(if: geteuid() == 0, "only root can give files away"))
    func advice() throws {
        let directory = try TemporaryDirectory()
        let home = directory.path + "/home"
        let data = home + "/.local/share/it's"
        try FileManager.default.createDirectory(atPath: data + "/replicas", withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: data + "/replicas/lock"))
        #expect(chown(home, 12_345, 12_345) == 0)
        // From the topmost directory that root has created, also for what is not there yet.
        let expected = "; \(home)/.local belongs to root, so run sudo chown -R 12345 '\(home)/.local'"
        for path in ["/replicas/lock", "/replicas", "/replicas/none/lock", ""] {
            #expect(FileOwner.advice(data + path, user: 12_345) == expected)
        }
        // Only the file.
        for path in ["/.local", "/.local/share", "/.local/share/it's", "/.local/share/it's/replicas"] {
            #expect(chown(home + path, 12_345, 12_345) == 0)
        }
        #expect(
            FileOwner.advice(data + "/replicas/lock", user: 12_345)?
                .hasPrefix("; \(data)/replicas/lock belongs to root") == true)
        #expect(FileOwner.advice(data + "/replicas", user: 12_345) == nil)
        #expect(FileOwner.advice("/proc/1/mem", user: 12_345)?.hasPrefix("; /proc/1/mem ") == true)
    }
}
