internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform

/// Takes several steps on a copy of a store, in a folder beside it. The copy replaces the store once the last step is complete: until then, the store
/// is unchanged, whatever fails.
///
/// After a kill or a cancellation, the next migration continues with the next step of the copy, unless the store was changed meanwhile.
struct ChainRunner {
    /// The runner of the steps, at the place of the store.
    let runner: StepRunner

    private var url: URL { runner.url }
    private var opening: StoreOpening { runner.opening }
    private var folder: URL {
        url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent)-chain", isDirectory: true)
    }
    private var copy: URL { folder.appendingPathComponent(url.lastPathComponent) }
    /// The record of the copy's source; written once the copy is complete.
    private var note: URL { folder.appendingPathComponent("source") }

    /// - Throws: The errors of the steps, 134120 once the progress was cancelled, and 134110 if the store was changed meanwhile. The store is left
    ///   unchanged then.
    func take(_ steps: [VersionStep]) throws {
        guard let last = steps.last else { return }
        if steps.count == 1 { return try runner.take(last) }
        do {
            let replacement = try StoreReplacement(of: opening, at: url)
            let left = try stepsLeft(steps, replacement)
            runner.progress.completedUnitCount += Int64(steps.count - left.count)
            let work = StepRunner(opening: opening, url: copy, groups: runner.groups, progress: runner.progress)
            for step in left { try work.take(step) }
            try replacement.put(copy)
        } catch {
            if (error as NSError).code != NSMigrationCancelledError { removeFolder() }
            throw error
        }
        removeFolder()
    }

    /// Returns the steps that the copy still needs, and makes a copy if there is none that can be continued.
    private func stepsLeft(_ steps: [VersionStep], _ replacement: StoreReplacement) throws -> [VersionStep] {
        let source = try? String(contentsOf: note, encoding: .utf8)
        if source == replacement.stamp, let version = try? StoreVersion(opening, at: copy, refused: nil) {
            if let last = steps.last, version.isOf(last.destination.model) { return [] }
            if let place = steps.lastIndex(where: { version.isOf($0.source.model) }) { return Array(steps[place...]) }
        }
        if FileManager.default.fileExists(atPath: folder.path) { try FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try replacement.copy(to: copy)
        try FileCalls.synchronize(copy)
        try Data(replacement.stamp.utf8).write(to: note)
        try FileCalls.synchronize(note)
        try FileCalls.synchronize(folder)
        return steps
    }

    private func removeFolder() {
        guard FileManager.default.fileExists(atPath: folder.path) else { return }
        do { try FileManager.default.removeItem(at: folder) } catch {
            Log.store.notice("The folder \(folder.path) stays: \(error.localizedDescription)")
        }
    }
}
