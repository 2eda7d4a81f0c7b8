internal import Foundation
internal import Logging

extension NSPersistentContainer {
    /// Makes a container of the model called `name`: one that the `ModelCompiler` plugin has compiled into the program, in whichever module, or
    /// `name.momd`, `.mom`, `.xcdatamodeld` or `.xcdatamodel`, in the bundle of the program, in loaded bundles, or in the resource bundles that
    /// packages have beside the executable.
    ///
    /// Where there is none, or it cannot be read or used, the container has an empty model, and opening its stores gives the error that says why.
    public convenience init(name: String) {
        do {
            let model = try ModelLocator.readModel(named: name)
            try model.freeze()
            self.init(name: name, managedObjectModel: model)
        } catch {
            Log.model.error("\(error.localizedDescription)")
            self.init(name: name, managedObjectModel: NSManagedObjectModel())
            modelError = error as NSError
        }
    }
}
