// The accessors that `@NSManaged` leaves to the Objective-C runtime on Apple's platforms, under the symbols that the compiler refers to.
// A misspelled or missing symbol does not link.
#if !canImport(ObjectiveC)
internal import CoreData

extension Palette {
    private static let idProperty = ManagedProperty<String>("id")
    @usableFromInline @_silgen_name("$s8Palettes7PaletteC2idSSvg") final func _getId() -> String { self[Self.idProperty] }
    @usableFromInline @_silgen_name("$s8Palettes7PaletteC2idSSvs")
    final func _setId(_ value: consuming String) { self[Self.idProperty] = value }

    private static let nameProperty = ManagedProperty<String>("name")
    @usableFromInline @_silgen_name("$s8Palettes7PaletteC4nameSSvg") final func _getName() -> String { self[Self.nameProperty] }
    @usableFromInline @_silgen_name("$s8Palettes7PaletteC4nameSSvs")
    final func _setName(_ value: consuming String) { self[Self.nameProperty] = value }

    private static let usernameProperty = ManagedProperty<String>("username")
    @usableFromInline @_silgen_name("$s8Palettes7PaletteC8usernameSSvg") final func _getUsername() -> String { self[Self.usernameProperty] }
    @usableFromInline @_silgen_name("$s8Palettes7PaletteC8usernameSSvs")
    final func _setUsername(_ value: consuming String) { self[Self.usernameProperty] = value }

    private static let rankProperty = ManagedProperty<Int64>("rank")
    @usableFromInline @_silgen_name("$s8Palettes7PaletteC4ranks5Int64Vvg") final func _getRank() -> Int64 { self[Self.rankProperty] }
    @usableFromInline @_silgen_name("$s8Palettes7PaletteC4ranks5Int64Vvs")
    final func _setRank(_ value: consuming Int64) { self[Self.rankProperty] = value }

    private static let colorsProperty = ManagedProperty<[String]>("colors")
    @usableFromInline @_silgen_name("$s8Palettes7PaletteC6colorsSaySSGvg") final func _getColors() -> [String] { self[Self.colorsProperty] }
    @usableFromInline @_silgen_name("$s8Palettes7PaletteC6colorsSaySSGvs")
    final func _setColors(_ value: consuming [String]) { self[Self.colorsProperty] = value }

    private static let widthsProperty = ManagedProperty<[Double]>("widths")
    @usableFromInline @_silgen_name("$s8Palettes7PaletteC6widthsSaySdGvg") final func _getWidths() -> [Double] { self[Self.widthsProperty] }
    @usableFromInline @_silgen_name("$s8Palettes7PaletteC6widthsSaySdGvs")
    final func _setWidths(_ value: consuming [Double]) { self[Self.widthsProperty] = value }
}
#endif
