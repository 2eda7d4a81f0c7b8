internal import Foundation
internal import Predicates

/// The models in use, from which a class finds its entity without a context.
final class LoadedModels: Sendable {
    static let shared = LoadedModels()
    private struct Weak { weak var model: NSManagedObjectModel? }
    private let models = LockedBox<[Weak]>([])

    func add(_ model: NSManagedObjectModel) {
        models.withLock { models in
            models.removeAll { $0.model == nil || $0.model === model }
            models.append(Weak(model: model))
        }
    }

    /// Returns the entity of a class in the model that was loaded last.
    func entity(for objectClass: any ObjectClass.Type) -> NSEntityDescription? {
        withEntity(for: objectClass) { $0 }
    }

    /// Calls `body` with the entity of a class in the model that was loaded last, and keeps the model alive meanwhile: an entity does not
    /// retain its model, and another thread may release the model at any time.
    func withEntity<Result>(
        for objectClass: any ObjectClass.Type, _ body: (NSEntityDescription?) throws -> Result
    ) rethrows -> Result {
        let models = self.models.withLock { $0.reversed().compactMap(\.model) }
        return try withExtendedLifetime(models) { try body(models.lazy.compactMap { $0.entity(for: objectClass) }.first) }
    }
}
