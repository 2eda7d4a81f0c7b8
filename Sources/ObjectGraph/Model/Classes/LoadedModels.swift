internal import Foundation
internal import Predicates

/// The models in use, from which a class finds its entity without a context.
final class LoadedModels: Sendable {
    static let shared = LoadedModels()
    private struct Weak { weak var model: NSManagedObjectModel? }
    private let models = LockedBox<[Weak]>([])
    /// The models that have entities and are not in use yet.
    private let newModels = LockedBox<[Weak]>([])

    func add(_ model: NSManagedObjectModel) {
        Self.move(model, to: models)
        newModels.withLock { $0.removeAll { $0.model == nil || $0.model === model } }
    }

    /// Adds a model that is being made, so that classes find their entities in it.
    func addNew(_ model: NSManagedObjectModel) { Self.move(model, to: newModels) }

    /// Makes a model the last of a list, and removes those that are no longer used.
    private static func move(_ model: NSManagedObjectModel, to list: LockedBox<[Weak]>) {
        list.withLock { models in
            models.removeAll { $0.model == nil || $0.model === model }
            models.append(Weak(model: model))
        }
    }

    /// Returns the entity of a class in the model that was loaded last; if none has it, in a model that is not in use yet.
    func entity(for objectClass: any ObjectClass.Type) -> NSEntityDescription? {
        if let entity = withEntity(for: objectClass, { $0 }) { return entity }
        let names = [String(reflecting: objectClass), String(describing: objectClass)]
        return newModels.withLock { $0.reversed().compactMap(\.model) }.lazy
            .compactMap { $0.entities.first { names.contains($0.managedObjectClassName) } }.first
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
