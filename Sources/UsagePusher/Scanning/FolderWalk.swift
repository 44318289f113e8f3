/// Finds files below some roots, with bounds on depth and on entries looked at.
///
/// Links are followed; a folder or file reached twice counts once. What cannot be read is noted
/// and the rest is kept.
struct FolderWalk {
    struct File: Sendable, Hashable {
        var path: String
        var facts: FileFacts
        /// Position of its root in the list of roots.
        var root: Int

        var name: Substring {
            path[path.index(after: path.lastIndex(of: "/") ?? path.startIndex)...]
        }
    }

    struct Trouble: Sendable, Hashable {
        var path: String
        var trouble: FileTrouble
    }

    private(set) var files: [File] = []
    private(set) var troubles: [Trouble] = []
    /// Roots that exist as folders.
    private(set) var rootsFound: Set<Int> = []

    private struct Folder {
        var path: String
        var depth: Int
        var root: Int
    }

    /// - Parameters:
    ///   - roots: absolute paths; one that is missing is no trouble.
    ///   - isWanted: whether a file's name matters; others are not even looked at.
    init(roots: [String], budget: inout ScanBudget, isWanted: (String) -> Bool) {
        var seen: Set<FileFacts.Identity> = []
        for (index, root) in roots.enumerated() {
            var stack = enter(Folder(path: root, depth: 0, root: index), seen: &seen)
            while let folder = stack.popLast() {
                stack += list(folder, seen: &seen, budget: &budget, isWanted: isWanted)
            }
        }
    }

    /// Newest first; of equal times the greater path.
    var newestFirst: [File] {
        files.sorted { ($0.facts.modified, $0.path) > ($1.facts.modified, $1.path) }
    }

    private mutating func enter(_ folder: Folder, seen: inout Set<FileFacts.Identity>) -> [Folder] {
        do throws(FileTrouble) {
            let facts = try FileFacts(path: folder.path)
            guard facts.kind == .folder else { throw .wrongKind }
            rootsFound.insert(folder.root)
            return seen.insert(facts.identity).inserted ? [folder] : []
        } catch {
            if error != .missing { note(folder.path, error) }
            return []
        }
    }

    /// Takes the wanted files of a folder and returns its folders, the one to visit first last.
    private mutating func list(
        _ folder: Folder, seen: inout Set<FileFacts.Identity>, budget: inout ScanBudget,
        isWanted: (String) -> Bool
    ) -> [Folder] {
        let entries: [FolderListing.Entry]
        do throws(FileTrouble) {
            let listing = try FolderListing.entries(of: folder.path, upTo: budget.entriesLeft)
            entries = listing.entries
            budget.noteEntries(entries.count)
            if listing.hasMore { budget.noteExceeded() }
        } catch {
            note(folder.path, error)
            return []
        }
        var folders: [Folder] = []
        for entry in entries {
            let wanted = isWanted(entry.name)
            if entry.isSurelyFile, !wanted { continue }
            let path = folder.path + "/" + entry.name
            do throws(FileTrouble) {
                let facts = try FileFacts(path: path)
                switch facts.kind {
                case .file where wanted:
                    guard seen.insert(facts.identity).inserted else { continue }
                    files.append(File(path: path, facts: facts, root: folder.root))
                case .folder:
                    guard seen.insert(facts.identity).inserted else { continue }
                    guard folder.depth < budget.limits.depth else {
                        budget.noteExceeded()
                        continue
                    }
                    folders.append(Folder(path: path, depth: folder.depth + 1, root: folder.root))
                case .file, .other: continue
                }
            } catch {
                // A name that is gone again, or a link to nothing, hides no numbers.
                if error != .missing { note(path, error) }
            }
        }
        // Folders are often named after days: with few entries left, the later ones matter more.
        return folders.sorted { $0.path < $1.path }
    }

    private mutating func note(_ path: String, _ trouble: FileTrouble) {
        guard troubles.count < 32 else { return }
        troubles.append(Trouble(path: path, trouble: trouble))
    }
}
