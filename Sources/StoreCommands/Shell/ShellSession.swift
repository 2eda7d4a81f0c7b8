internal import Foundation
internal import ObjectGraph

/// The store of a shell, which stays open between commands.
package final class ShellSession {
    /// The session of this process.
    // Only the thread that executes commands sets and reads it.
    nonisolated(unsafe) package static var current: ShellSession?

    package let reference: StoreReference
    private var store: OpenStore?
    private var state: [String] = []

    package init(_ reference: StoreReference) { self.reference = reference }

    /// Returns the store, which is opened again if its files have changed.
    ///
    /// - Throws: The errors of opening it.
    package func open() throws -> OpenStore {
        let now = Self.state(of: reference.place)
        if let store, now == state {
            store.read { store.context.reset() }
            return store
        }
        store = nil
        let opened = try reference.open()
        (store, state) = (opened, now)
        return opened
    }

    /// Returns the state that changes with each write: the sizes and times of the store and of its log.
    private static func state(of place: String) -> [String] {
        guard let url = try? StoreKind.url(of: place) else { return [] }
        return ["", "-wal"].map { ending in
            guard let values = try? FileManager.default.attributesOfItem(atPath: url.path + ending) else { return "" }
            return "\(values[.size] ?? "") \((values[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0)"
        }
    }
}
