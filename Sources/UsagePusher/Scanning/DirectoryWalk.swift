import LocalFiles

/// Finds files below some roots, bounded in depth and number of entries.
///
/// Links are followed; a directory or file reached twice counts once. What cannot be read is
/// recorded and the rest is kept.
struct DirectoryWalk {
    struct File: Sendable, Hashable {
        var path: String
        var status: FileStatus
        /// Index of its root.
        var root: Int

        var name: Substring {
            let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
            return path[(slash.map(path.utf8.index(after:)) ?? path.startIndex)...]
        }
    }

    private(set) var files: [File] = []
    private(set) var errors: [FileError] = []
    /// Indices of the roots that exist as directories.
    private(set) var rootsFound: Set<Int> = []
    private var visited: Set<FileStatus.Identity> = []
    private static let errorLimit = 32

    private struct Directory {
        var path: String
        var depth: Int
        var root: Int
    }

    /// - Parameters:
    ///   - roots: absolute paths; a missing one is no error.
    ///   - acceptsFiles: whether a root may be a file, which is then wanted.
    ///   - isEntered: whether a directory of that name below a root is listed.
    ///   - isWanted: whether a file of that name is wanted; others are not even inspected.
    init(
        roots: [String], budget: inout ScanBudget, acceptsFiles: Bool = false,
        isEntered: (String) -> Bool = { _ in true }, isWanted: (String) -> Bool
    ) {
        for (index, root) in roots.enumerated() {
            let directory = Directory(path: root, depth: 0, root: index)
            var stack = enter(directory, acceptsFiles: acceptsFiles)
            while let directory = stack.popLast() {
                stack += list(directory, budget: &budget, isEntered: isEntered, isWanted: isWanted)
            }
        }
    }

    var newestFirst: [File] { files.sorted(by: Self.isNewer) }

    /// Among equal times the greater path.
    static func isNewer(_ left: File, than right: File) -> Bool {
        (left.status.modified, left.path) > (right.status.modified, right.path)
    }

    private mutating func enter(_ root: Directory, acceptsFiles: Bool) -> [Directory] {
        do throws(FileError) {
            guard let status = try FileStatus(path: root.path) else { return [] }
            if acceptsFiles, status.kind == .file {
                if visited.insert(status.identity).inserted {
                    files.append(File(path: root.path, status: status, root: root.root))
                }
                return []
            }
            guard status.kind == .directory else {
                throw FileError(operation: "list", path: root.path, cause: .notADirectory)
            }
            rootsFound.insert(root.root)
            return visited.insert(status.identity).inserted ? [root] : []
        } catch {
            record(error)
            return []
        }
    }

    /// Adds the wanted files of a directory and returns its directories, the one to visit first last.
    private mutating func list(
        _ directory: Directory, budget: inout ScanBudget, isEntered: (String) -> Bool, isWanted: (String) -> Bool
    ) -> [Directory] {
        let entries: [LocalDirectory.Entry]
        do throws(FileError) {
            let listing = try LocalDirectory(directory.path).entries(limit: budget.entriesLeft)
            entries = listing.entries
            budget.recordEntries(entries.count)
            if listing.hasMore { budget.markExceeded() }
        } catch {
            record(error)
            return []
        }
        var directories: [Directory] = []
        for entry in entries {
            let isWanted = isWanted(entry.name)
            if entry.isKnownFile, !isWanted { continue }
            let path = directory.path + "/" + entry.name
            do throws(FileError) {
                // A name that is gone again, or a link to nothing, hides no numbers.
                guard let status = try FileStatus(path: path),
                    status.kind == .directory ? isEntered(entry.name) : status.kind == .file && isWanted,
                    visited.insert(status.identity).inserted
                else { continue }
                if status.kind == .file {
                    files.append(File(path: path, status: status, root: directory.root))
                } else if directory.depth < budget.limits.depth {
                    directories.append(Directory(path: path, depth: directory.depth + 1, root: directory.root))
                } else {
                    budget.markExceeded()
                }
            } catch {
                record(error)
            }
        }
        // Directories are often named after days: with few entries left, later ones matter more.
        return directories.sorted { $0.path < $1.path }
    }

    private mutating func record(_ error: FileError) {
        if errors.count < Self.errorLimit { errors.append(error) }
    }
}
