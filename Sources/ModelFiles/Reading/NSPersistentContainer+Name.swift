internal import Foundation
internal import Logging
public import ObjectGraph

extension NSPersistentContainer {
    /// Creates a container with the model called `name`.
    ///
    /// The model is one that the `ModelCompiler` plugin has compiled into any module of the program, or `name.momd`, `.mom`,
    /// `.xcdatamodeld` or `.xcdatamodel` in the main bundle, in loaded bundles, or in the resource bundles that packages place beside the
    /// executable. If the model does not exist, cannot be read or is invalid, the container has an empty model, and opening its stores
    /// reports the error.
    public convenience init(name: String) {
        do {
            self.init(name: name, managedObjectModel: try ModelLocator.readModel(named: name))
        } catch {
            Log.model.error("\(error.localizedDescription)")
            self.init(name: name, managedObjectModel: NSManagedObjectModel())
            modelError = error as NSError
        }
    }
}
