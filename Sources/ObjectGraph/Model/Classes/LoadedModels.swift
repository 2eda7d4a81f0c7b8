internal import Foundation
internal import Platform
internal import Predicates

/// The models in use, from which a class finds its entity without a context.
final class LoadedModels: Sendable {
    static let shared = LoadedModels()
    private struct Weak { weak var model: NSManagedObjectModel? }

    /// The models in the order in which they were added.
    ///
    /// Some models may occur twice, or be gone. These entries are removed now and then: searching all of them at each addition would take time that
    /// is quadratic in the number of models.
    private struct Models {
        private var entries: [Weak] = []
        /// How many entries there may be before they are looked through.
        private var limit = 16

        mutating func append(_ model: NSManagedObjectModel) {
            if entries.last?.model === model { return }
            if entries.count >= limit {
                var seen: Set<ObjectIdentifier> = []
                entries = entries.reversed().filter { $0.model.map { seen.insert(ObjectIdentifier($0)).inserted } ?? false }.reversed()
                limit = max(16, 2 * entries.count)
            }
            entries.append(Weak(model: model))
        }

        /// The models, the last added first. A model that occurs twice counts where it comes first.
        var all: [NSManagedObjectModel] { entries.reversed().compactMap(\.model) }
    }

    private let models = LockedBox(Models())
    /// The models that have entities, whether they are in use by now or not.
    private let newModels = LockedBox(Models())

    func add(_ model: NSManagedObjectModel) { models.withLock { $0.append(model) } }

    /// Adds a model that is being made, so that classes find their entities in it.
    func addNew(_ model: NSManagedObjectModel) { newModels.withLock { $0.append(model) } }

    /// Returns the entity of a class in the last loaded model; if none has it, in a model that is not in use yet.
    func entity(for objectClass: any ObjectClass.Type) -> NSEntityDescription? {
        guard !objectClass.isStandardClass else { return nil }
        if let entity = withEntity(for: objectClass, { $0 }) { return entity }
        let names = [String(reflecting: objectClass), String(describing: objectClass)]
        let used = Set(models.withLock { $0.all }.map { ObjectIdentifier($0) })
        return newModels.withLock { $0.all }.lazy.filter { !used.contains(ObjectIdentifier($0)) }
            .compactMap { $0.entities.first { names.contains($0.managedObjectClassName) } }.first
    }

    /// Calls `body` with the entity of a class in the model that was loaded last, and keeps the model alive meanwhile: an entity does not
    /// retain its model, and another thread may release the model at any time.
    func withEntity<Result>(
        for objectClass: any ObjectClass.Type, _ body: (NSEntityDescription?) throws -> Result
    ) rethrows -> Result {
        let models = self.models.withLock { $0.all }
        return try withExtendedLifetime(models) { try body(models.lazy.compactMap { $0.entity(for: objectClass) }.first) }
    }
}
