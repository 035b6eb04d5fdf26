"""What may take long: programs by size, for the table of `interrupt_latency.py`.

A program is a line that makes its data of a size `n`, about the number of elements it works on, and a line
that works. Functions of one, two or three tensors that nothing else is said of are found in the registry.
"""

LINE = "x = torch.rand(n)"
LINE_AND_ORDER = "x = torch.rand(n)\ni = torch.randperm(n)"
MATRIX = "x = torch.rand(int(n**0.5), int(n**0.5))"
SMALL_MATRICES = "x = torch.rand(n // 25 + 1, 5, 5)"
IMAGE = "x = torch.rand(1, 1, int(n**0.5), int(n**0.5))"
ROWS = "x = torch.rand(n // 100 + 1, 100)"

# name: (data, work)
CASES = {
    # Numbers in order, and what is found among them.
    "sort": (LINE, "x.sort()"),
    "sort, columns": ("x = torch.rand(n // 1000 + 1, 1000)", "x.sort(0)"),
    "sort, integers": ("x = torch.randint(0, 1 << 40, (n,))", "x.sort(stable=True)"),
    "argsort": (LINE, "x.argsort()"),
    "topk": (LINE, "x.topk(n // 2)"),
    "kthvalue": (LINE, "x.kthvalue(n // 2)"),
    "median": (LINE, "x.median()"),
    "nanmedian of rows": ("x = torch.rand(9, n // 9)", "x.nanmedian(1)"),
    "mode": (LINE, "x.mode()"),
    "quantile": (LINE, "torch.quantile(x[:16_000_000], 0.3)"),
    "unique": (LINE, "x.unique(return_inverse=True, return_counts=True)"),
    "unique rows": ("x = torch.randint(0, 9, (n // 5 + 1, 5))", "x.unique(dim=0)"),
    "unique_consecutive": ("x = torch.randint(0, 2, (n,))", "x.unique_consecutive(return_inverse=True)"),
    "searchsorted": ("x = torch.rand(n)\ns = torch.arange(1000) / 1000", "torch.searchsorted(s, x)"),
    "bucketize": ("x = torch.rand(n)\ns = torch.arange(1000) / 1000", "torch.bucketize(x, s)"),
    "histc": (LINE, "x.histc(1000)"),
    "histogram": (LINE, "torch.histogram(x, 1000)"),
    "histogramdd": ("x = torch.rand(n // 3 + 1, 3)", "torch.histogramdd(x, [9, 9, 9])"),
    "bincount": ("x = torch.randint(0, 9, (n,))", "x.bincount()"),
    "isin": ("x = torch.randint(0, n, (n,))", "torch.isin(x, x + 1)"),
    "nonzero": ("x = torch.ones(n, dtype=torch.uint8)", "x.nonzero()"),
    # Random numbers.
    "randperm": ("", "torch.randperm(n)"),
    "rand": ("", "torch.rand(n)"),
    "randn": ("", "torch.randn(n)"),
    "randint": ("", "torch.randint(0, 9, (n,))"),
    "poisson": ("x = torch.full((n,), 20.0)", "torch.poisson(x)"),
    "binomial": ("x = torch.full((n,), 20.0)", "torch.binomial(x, x / 40)"),
    "multinomial": ("x = torch.ones(1000)", "torch.multinomial(x, n, True)"),
    "bernoulli": (LINE, "torch.bernoulli(x)"),
    "gamma": (LINE, "torch.distributions.Gamma(x + 0.1, x + 0.1).rsample()"),
    "dirichlet": ("x = torch.rand(n // 3 + 1, 3)", "torch.distributions.Dirichlet(x + 0.1).rsample()"),
    "dropout": (LINE, "F.dropout(x)"),
    "Sobol": ("e = torch.quasirandom.SobolEngine(10)", "e.draw(n // 10 + 1)"),
    # Sums and products so far.
    "cumsum": (LINE, "x.cumsum(0)"),
    "cumsum, columns": ("x = torch.rand(n // 1000 + 1, 1000)", "x.cumsum(0)"),
    "cummax": (LINE, "x.cummax(0)"),
    "logcumsumexp": (LINE, "x.logcumsumexp(0)"),
    "cumprod, backward": ("x = torch.rand(n, requires_grad=True)\ny = x.cumprod(0).sum()", "y.backward()"),
    # Elements moved.
    "transposed": ("x = torch.rand(20, 100, n // 2000 + 1)", "x.permute(2, 0, 1).contiguous()"),
    "transposed in place": (MATRIX, "x.copy_(x.t().clone().t().t())"),
    "every second": ("x = torch.rand(n, 2)", "x[:, 0].clone()"),
    "converted": (LINE, "x.to(torch.complex128)"),
    "gather": (LINE_AND_ORDER, "x.gather(0, i)"),
    "scatter": (LINE_AND_ORDER, "x.scatter(0, i, x)"),
    "scatter_add": (LINE_AND_ORDER, "x.scatter_add(0, i, x)"),
    "scatter_reduce": (LINE_AND_ORDER, "x.scatter_reduce(0, i, x, 'amax')"),
    "index_add": (LINE_AND_ORDER, "x.index_add(0, i, x)"),
    "index_reduce": (LINE_AND_ORDER, "x.index_reduce(0, i, x, 'prod')"),
    "index_copy": (LINE_AND_ORDER, "x.index_copy(0, i, x)"),
    "index_put": (LINE_AND_ORDER, "x.index_put((i,), x, accumulate=True)"),
    "index_select": (LINE_AND_ORDER, "x.index_select(0, i)"),
    "index": (LINE_AND_ORDER, "x[i]"),
    "take": (LINE_AND_ORDER, "x.take(i)"),
    "put": (LINE_AND_ORDER, "x.put(i, x)"),
    "masked_select": (LINE, "x[x > 0.5]"),
    "masked_scatter": (LINE, "x.masked_scatter(x > 0.5, x)"),
    "repeat": ("x = torch.rand(1000)", "x.repeat(n // 1000 + 1)"),
    "repeat_interleave": ("x = torch.full((n // 40 + 1,), 40)", "torch.repeat_interleave(x)"),
    "roll": (LINE, "x.roll(7)"),
    "flip": (LINE, "x.flip(0)"),
    "rot90": (MATRIX, "torch.rot90(x)"),
    "cat": ("x = torch.rand(n // 1000 + 1)", "torch.cat([x] * 1000)"),
    "stack, last": ("x = torch.rand(n // 10 + 1)", "torch.stack([x] * 10, -1)"),
    "block_diag": ("x = torch.rand(3, 3)", "torch.block_diag(*[x] * (int(n**0.5) // 3 + 1))"),
    "combinations": ("x = torch.arange(int(n**0.25) + 5)", "torch.combinations(x, 4)"),
    "cartesian_prod": ("x = torch.arange(int(n**0.5))", "torch.cartesian_prod(x, x)"),
    "meshgrid": ("x = torch.arange(int(n**0.5))", "[y.clone() for y in torch.meshgrid(x, x, indexing='ij')]"),
    "tril_indices": ("", "torch.tril_indices(int(n**0.5), int(n**0.5))"),
    "vander": ("x = torch.rand(n // 100 + 1)", "torch.vander(x, 100)"),
    "kron": ("x = torch.rand(int(n**0.25), int(n**0.25))", "torch.kron(x, torch.kron(x, x))"),
    "unfold of a view": ("x = torch.rand(n // 50 + 100)", "x.unfold(0, 50, 1).clone()"),
    "as_strided_scatter": (LINE, "x.as_strided_scatter(x[: n // 2], (n // 2,), (2,))"),
    "unbind": (LINE, "x.unbind()"),
    "split": (LINE, "x.split(1)"),
    "list of rows": ("x = torch.rand(n, 1)", "list(x)"),
    "nested list": ("x = torch.rand(n // 10 + 1, 10)", "x.tolist()"),
    "list": (LINE, "x.tolist()"),
    "from a list": ("x = [0.5] * n", "torch.tensor(x)"),
    "from nested lists": ("x = [[0.5, 1.5]] * n", "torch.tensor(x)"),
    "printing": ("torch.set_printoptions(threshold=1 << 60)\nx = torch.rand(n)", "repr(x)"),
    "printing, scaled": (LINE, "repr(x)"),
    "save": ("import os\nx = torch.rand(n)", "torch.save(x, os.devnull)"),
    "save to memory": ("import io\nx = torch.rand(n)", "torch.save(x, io.BytesIO())"),
    "load": (
        "import io\nf = io.BytesIO()\ntorch.save(torch.rand(n), f)",
        "f.seek(0), torch.load(f, weights_only=True)",
    ),
    "load of many": (
        "import io\nf = io.BytesIO()\ntorch.save([torch.rand(3) for _ in range(n // 500 + 1)], f)",
        "f.seek(0), torch.load(f, weights_only=True)",
    ),
    "pickle": ("import pickle\nx = torch.rand(n)", "pickle.loads(pickle.dumps(x))"),
    "deepcopy": ("import copy\nx = torch.rand(n)", "copy.deepcopy(x)"),
    "bytes": (LINE, "bytes(x.untyped_storage())"),
    "equal": ("x = torch.rand(n)\ny = x.clone()", "torch.equal(x, y)"),
    "allclose": ("x = torch.rand(n)\ny = x.clone()", "torch.allclose(x, y)"),
    "assert_close": ("x = torch.rand(n)\ny = x.clone()", "torch.testing.assert_close(x, y)"),
    # Matrices.
    "product": (MATRIX, "x @ x"),
    "product of doubles": ("x = torch.rand(int(n**0.5), int(n**0.5)).double()", "x @ x"),
    "product of integers": ("x = torch.randint(0, 9, (int(n**0.5), int(n**0.5)))", "x @ x"),
    "product of complex numbers": ("x = torch.rand(int(n**0.5), int(n**0.5)).cfloat()", "x @ x"),
    "products": ("x = torch.rand(n // 400 + 1, 20, 20)", "x @ x"),
    "products with a vector": (MATRIX, "x @ x[0]"),
    "few rows": (MATRIX, "x[:3] @ x"),
    "chain of products": (MATRIX, "torch.linalg.multi_dot([x, x, x])"),
    "einsum": ("x = torch.rand(int(n**0.34), int(n**0.34), 9)", "torch.einsum('ijk,jlk->il', x, x)"),
    "matrix_power": ("x = torch.eye(int(n**0.5))", "torch.linalg.matrix_power(x, 9)"),
    "matrix_exp": ("x = torch.rand(int(n**0.5), int(n**0.5)) / n", "torch.linalg.matrix_exp(x)"),
    "inv": (MATRIX, "torch.linalg.inv(x)"),
    "det": (MATRIX, "torch.linalg.det(x)"),
    "solve": (MATRIX, "torch.linalg.solve(x, x)"),
    "lu": (MATRIX, "torch.linalg.lu(x)"),
    "cholesky": (
        "x = torch.rand(int(n**0.5), 9)\nx = x @ x.t() + 9 * torch.eye(len(x))",
        "torch.linalg.cholesky(x)",
    ),
    "ldl_factor": ("x = torch.rand(int(n**0.5), 9)\nx = x @ x.t()", "torch.linalg.ldl_factor(x)"),
    "qr": (MATRIX, "torch.linalg.qr(x)"),
    "qr, tall": ("x = torch.rand(n // 50 + 50, 50)", "torch.linalg.qr(x)"),
    "svd": (MATRIX, "torch.linalg.svd(x)"),
    "svdvals": (MATRIX, "torch.linalg.svdvals(x)"),
    "svd, tall": ("x = torch.rand(n // 50 + 50, 50)", "torch.linalg.svd(x, full_matrices=False)"),
    "svd of complex numbers": ("x = torch.rand(int(n**0.5), int(n**0.5)).cfloat()", "torch.linalg.svd(x)"),
    "eig": (MATRIX, "torch.linalg.eig(x)"),
    "eigvals": (MATRIX, "torch.linalg.eigvals(x)"),
    "eigh": (MATRIX, "torch.linalg.eigh(x)"),
    "eigvalsh": (MATRIX, "torch.linalg.eigvalsh(x)"),
    "eigh of complex numbers": ("x = torch.rand(int(n**0.5), int(n**0.5)).cfloat()", "torch.linalg.eigh(x)"),
    "pinv": (MATRIX, "torch.linalg.pinv(x)"),
    "lstsq": (MATRIX, "torch.linalg.lstsq(x, x)"),
    "triangular": (
        MATRIX,
        "torch.linalg.solve_triangular(x, x, upper=True)",
    ),
    "cholesky_inverse": ("x = torch.eye(int(n**0.5))", "torch.cholesky_inverse(x)"),
    "householder": (MATRIX, "torch.linalg.householder_product(x, x[0])"),
    "slogdet, backward": (
        "x = torch.rand(int(n**0.5), int(n**0.5), requires_grad=True)\ny = torch.linalg.slogdet(x)[1]",
        "y.backward()",
    ),
    "svd, backward": (
        "x = torch.rand(int(n**0.5), int(n**0.5), requires_grad=True)\ny = torch.linalg.svdvals(x).sum()",
        "y.backward()",
    ),
    "many inverses": (SMALL_MATRICES, "torch.linalg.inv(x)"),
    "many singular values": (SMALL_MATRICES, "torch.linalg.svd(x)"),
    "many eigenvalues": (SMALL_MATRICES, "torch.linalg.eig(x)"),
    "many symmetric": (SMALL_MATRICES, "torch.linalg.eigh(x)"),
    "many determinants": (SMALL_MATRICES, "torch.linalg.det(x)"),
    "vmap of inverses": (SMALL_MATRICES, "torch.func.vmap(torch.linalg.inv)(x)"),
    "vmap of svd": (SMALL_MATRICES, "torch.func.vmap(torch.linalg.svd)(x)"),
    "vmap of gradients": (
        SMALL_MATRICES,
        "torch.func.vmap(torch.func.grad(lambda m: torch.linalg.slogdet(m)[1]))(x)",
    ),
    "cdist": ("x = torch.rand(int(n**0.5), 30)", "torch.cdist(x, x)"),
    "cdist, other power": ("x = torch.rand(int(n**0.5), 30)", "torch.cdist(x, x, p=1.5)"),
    "pdist": ("x = torch.rand(int(n**0.5), 30)", "F.pdist(x)"),
    "pdist, backward": (
        "x = torch.rand(int(n**0.5), 30, requires_grad=True)\ny = F.pdist(x, 3.0).sum()",
        "y.backward()",
    ),
    "cov": (MATRIX, "torch.cov(x)"),
    "lobpcg": ("x = torch.rand(int(n**0.5), 9)\nx = x @ x.t() + torch.eye(len(x))", "torch.lobpcg(x, 3)"),
    # Transforms.
    "fft": (LINE, "torch.fft.fft(x)"),
    "fft of an odd length": ("x = torch.rand(n | 1)", "torch.fft.fft(x)"),
    "fft2": (MATRIX, "torch.fft.fft2(x)"),
    "rfft of lines": ("x = torch.rand(n // 1000 + 1, 1000)", "torch.fft.rfft(x)"),
    "irfft": ("x = torch.rand(n).cfloat()", "torch.fft.irfft(x)"),
    "stft": ("x = torch.rand(n)\nw = torch.ones(512)", "torch.stft(x, 512, window=w, return_complex=True)"),
    "istft": (
        "w = torch.ones(512)\nx = torch.rand(257, n // 128 + 9).cfloat()",
        "torch.istft(x, 512, window=w)",
    ),
    # Layers.
    "conv1d": ("x, w = torch.rand(1, 8, n // 8 + 9), torch.rand(8, 8, 5)", "F.conv1d(x, w)"),
    "conv2d": ("x, w = torch.rand(1, 8, int(n**0.5), int(n**0.5)), torch.rand(8, 8, 5, 5)", "F.conv2d(x, w)"),
    "conv2d, backward": (
        "x, w = torch.rand(1, 8, int(n**0.5), int(n**0.5), requires_grad=True), torch.rand(8, 8, 5, 5)\n"
        "y = F.conv2d(x, w).sum()",
        "y.backward()",
    ),
    "conv2d, dilated groups": (
        "x, w = torch.rand(1, 8, int(n**0.5) + 30, int(n**0.5) + 30), torch.rand(8, 1, 5, 5)",
        "F.conv2d(x, w, dilation=2, groups=8)",
    ),
    "conv3d": (
        "s = int(n**0.34) + 5\nx, w = torch.rand(1, 4, s, s, s), torch.rand(4, 4, 3, 3, 3)",
        "F.conv3d(x, w)",
    ),
    "conv_transpose2d": (
        "x, w = torch.rand(1, 8, int(n**0.5), int(n**0.5)), torch.rand(8, 8, 5, 5)",
        "F.conv_transpose2d(x, w, stride=2)",
    ),
    "unfold of images": ("x = torch.rand(1, 3, int(n**0.5), int(n**0.5))", "F.unfold(x, 5)"),
    "fold of images": (
        "s = int((n / 75) ** 0.5) + 9\nx = torch.rand(1, 75, (s - 4) ** 2)",
        "F.fold(x, (s, s), 5)",
    ),
    "max_pool2d": (IMAGE, "F.max_pool2d(x, 9, 1)"),
    "max_pool2d, backward": (
        "x = torch.rand(1, 1, int(n**0.5), int(n**0.5), requires_grad=True)\ny = F.max_pool2d(x, 9, 1).sum()",
        "y.backward()",
    ),
    "avg_pool2d": (IMAGE, "F.avg_pool2d(x, 9, 1)"),
    "avg_pool3d": ("s = int(n**0.34) + 9\nx = torch.rand(1, 1, s, s, s)", "F.avg_pool3d(x, 5, 1)"),
    "lp_pool2d": (IMAGE, "F.lp_pool2d(x, 3.0, 9, 1)"),
    "adaptive_max_pool2d": ("x = torch.rand(8, int(n**0.5), int(n**0.5))", "F.adaptive_max_pool2d(x, 20)"),
    "adaptive_avg_pool2d": ("x = torch.rand(8, int(n**0.5), int(n**0.5))", "F.adaptive_avg_pool2d(x, 21)"),
    "fractional_max_pool2d": (
        "s = int(n**0.5) + 9\nx = torch.rand(1, 1, s, s)",
        "F.fractional_max_pool2d(x, 3, (s * 2 // 3, s * 2 // 3))",
    ),
    "max_unpool2d": (
        "s = 2 * int(n**0.5)\ny, i = F.max_pool2d(torch.rand(1, 1, s, s), 2, return_indices=True)",
        "F.max_unpool2d(y, i, 2)",
    ),
    "interpolate, bicubic": (
        IMAGE,
        "F.interpolate(x, scale_factor=2.0, mode='bicubic')",
    ),
    "interpolate, antialias": (
        IMAGE,
        "F.interpolate(x, scale_factor=0.3, mode='bilinear', antialias=True)",
    ),
    "interpolate, nearest": (
        IMAGE,
        "F.interpolate(x, scale_factor=2.5)",
    ),
    "interpolate, backward": (
        "x = torch.rand(1, 1, int(n**0.5), int(n**0.5), requires_grad=True)\n"
        "y = F.interpolate(x, scale_factor=2.0, mode='bilinear').sum()",
        "y.backward()",
    ),
    "grid_sample": (
        "s = int(n**0.5)\nx, g = torch.rand(1, 3, 99, 99), torch.rand(1, s, s, 2)",
        "F.grid_sample(x, g, align_corners=False)",
    ),
    "grid_sample, backward": (
        "s = int(n**0.5)\nx, g = torch.rand(1, 3, 99, 99, requires_grad=True), torch.rand(1, s, s, 2)\n"
        "y = F.grid_sample(x, g, align_corners=False).sum()",
        "y.backward()",
    ),
    "affine_grid": (
        "s = int(n**0.5)\nt = torch.rand(1, 2, 3)",
        "F.affine_grid(t, (1, 1, s, s), align_corners=False)",
    ),
    "pad": (IMAGE, "F.pad(x, (9, 9, 9, 9), mode='reflect')"),
    "pixel_shuffle": (
        "x = torch.rand(1, 9, int(n**0.5) // 3 + 1, int(n**0.5) // 3 + 1)",
        "F.pixel_shuffle(x, 3)",
    ),
    "batch_norm": ("x = torch.rand(9, 3, n // 27 + 1)", "F.batch_norm(x, None, None, training=True)"),
    "layer_norm": (ROWS, "F.layer_norm(x, (100,))"),
    "group_norm": ("x = torch.rand(9, 8, n // 72 + 1)", "F.group_norm(x, 2)"),
    "local_response_norm": ("x = torch.rand(9, 30, n // 270 + 1)", "F.local_response_norm(x, 5)"),
    "softmax": (ROWS, "x.softmax(1)"),
    "softmax, columns": ("x = torch.rand(100, n // 100 + 1)", "x.softmax(0)"),
    "gumbel_softmax": (ROWS, "F.gumbel_softmax(x)"),
    "embedding": (
        "w = torch.rand(1000, 64)\ni = torch.randint(0, 1000, (n // 64 + 1,))",
        "F.embedding(i, w)",
    ),
    "embedding, backward": (
        "x = torch.rand(1000, 64, requires_grad=True)\ni = torch.randint(0, 1000, (n // 64 + 1,))\n"
        "y = F.embedding(i, x).sum()",
        "y.backward()",
    ),
    "embedding_bag": (
        "w = torch.rand(1000, 64)\ni = torch.randint(0, 1000, (n // 64 + 9,))\n"
        "o = torch.arange(0, len(i), 8)",
        "F.embedding_bag(i, w, o)",
    ),
    "one_hot": ("x = torch.randint(0, 100, (n // 100 + 1,))", "F.one_hot(x, 100)"),
    "attention": (
        "x = torch.rand(1, 1, int(n**0.5), 64)",
        "F.scaled_dot_product_attention(x, x, x)",
    ),
    "attention, backward": (
        "x = torch.rand(1, 1, int(n**0.5), 64, requires_grad=True)\n"
        "y = F.scaled_dot_product_attention(x, x, x).sum()",
        "y.backward()",
    ),
    "LSTM": ("m, x = torch.nn.LSTM(32, 64), torch.rand(n // 512 + 1, 16, 32)", "m(x)"),
    "LSTM, backward": (
        "m, x = torch.nn.LSTM(32, 64), torch.rand(n // 512 + 1, 16, 32, requires_grad=True)\n"
        "y = m(x)[0].sum()",
        "y.backward()",
    ),
    "GRU": ("m, x = torch.nn.GRU(32, 64), torch.rand(n // 512 + 1, 16, 32)", "m(x)"),
    "Transformer": (
        "m, x = torch.nn.TransformerEncoderLayer(32, 2, 64).eval(), torch.rand(int(n**0.5), 1, 32)",
        "m(x)",
    ),
    "bilinear": ("w = torch.rand(30, 30, 30)\nx = torch.rand(n // 30 + 1, 30)", "F.bilinear(x, x, w)"),
    # Losses.
    "cross_entropy": (
        "x = torch.rand(n // 100 + 1, 100)\nt = torch.zeros(len(x), dtype=torch.long)",
        "F.cross_entropy(x, t)",
    ),
    "nll_loss of images": (
        "x = torch.rand(1, 9, n // 9 + 1, 1)\nt = torch.zeros(1, n // 9 + 1, 1, dtype=torch.long)",
        "F.nll_loss(x, t)",
    ),
    "ctc_loss": (
        "b = n // 30_000 + 1\nx = torch.rand(300, b, 30).log_softmax(2)\nt = torch.randint(1, 30, (b, 100))",
        "F.ctc_loss(x, t, [300] * b, [100] * b)",
    ),
    "ctc_loss, one long": (
        "b = int(n**0.5) + 30\nx = torch.rand(b, 1, 30).log_softmax(2)\n"
        "t = torch.randint(1, 30, (1, b // 3))",
        "F.ctc_loss(x, t, [b], [b // 3])",
    ),
    "ctc_loss, backward": (
        "b = n // 30_000 + 1\nx = torch.rand(300, b, 30, requires_grad=True)\n"
        "t = torch.randint(1, 30, (b, 100))\n"
        "y = F.ctc_loss(x.log_softmax(2), t, [300] * b, [100] * b)",
        "y.backward()",
    ),
    "multi_margin_loss": (
        "x = torch.rand(n // 100 + 1, 100)\nt = torch.zeros(len(x), dtype=torch.long)",
        "F.multi_margin_loss(x, t)",
    ),
    "multilabel_margin_loss": (
        "x = torch.rand(n // 100 + 1, 100)\nt = torch.arange(100).expand(len(x), 100)",
        "F.multilabel_margin_loss(x, t)",
    ),
    "triplet_margin_loss": (ROWS, "F.triplet_margin_loss(x, x + 1, x + 2)"),
    "trapezoid": (LINE, "torch.trapezoid(x)"),
    "gradient": (LINE, "torch.gradient(x)"),
    "renorm": (ROWS, "x.renorm(2, 0, 1.0)"),
    "norm": (LINE, "torch.linalg.vector_norm(x, 3)"),
    "where": (LINE, "torch.where(x > 0.5, x, 0)"),
    "lerp": (LINE, "torch.lerp(x, x, x)"),
    "polynomial": (LINE, "torch.special.hermite_polynomial_h(x, 30)"),
    "zeta": (LINE, "torch.special.zeta(x + 2, x + 1)"),
    "polygamma": (LINE, "torch.polygamma(3, x)"),
    "segment_reduce": (
        "x = torch.rand(n)\nl = torch.tensor([n])",
        "torch.segment_reduce(x, 'max', lengths=l)",
    ),
    # Graphs.
    "a chain recorded": ("x = torch.ones(10, requires_grad=True)", "chain(x, n // 10)"),
    "a chain, backward": (
        "x = torch.ones(10, requires_grad=True)\ny = chain(x, n // 10).sum()",
        "y.backward()",
    ),
    "a chain, backward recorded": (
        "x = torch.ones(10, requires_grad=True)\ny = chain(x, n // 10).sum()",
        "y.backward(create_graph=True)",
    ),
    "a chain freed": ("x = torch.ones(10, requires_grad=True)\nh = [chain(x, n // 10)]", "h.clear()"),
    "views freed": ("x = torch.rand(n)\nh = [x.unbind()]", "h.clear()"),
    "branches, backward": (
        "x = torch.rand(n // 1000 + 1, requires_grad=True)\n"
        "y = sum(chain(x * i, 125).sum() for i in range(8))",
        "y.backward()",
    ),
    "functions of one's own": (
        "class Slow(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        ctx.save_for_backward(x)\n"
        "        return x * 1\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        (x,) = ctx.saved_tensors\n"
        "        return g + (x @ x) * 0\n"
        "x = torch.ones(int(n**0.5), int(n**0.5), requires_grad=True)\ny = x\n"
        "for _ in range(20): y = Slow.apply(y)\ny = y.sum()",
        "y.backward()",
    ),
    "gradcheck": (
        "x = torch.rand(int(n**0.5) // 5 + 1, dtype=torch.float64, requires_grad=True)",
        "torch.autograd.gradcheck(torch.sin, x)",
    ),
    "jacobian": ("x = torch.rand(int(n**0.5) // 2)", "torch.func.jacrev(torch.sin)(x)"),
    "hessian": (
        "x = torch.rand(int(n**0.5) // 4)",
        "torch.func.hessian(lambda x: x.sin().prod())(x)",
    ),
    "an optimiser": (
        "p = [torch.rand(9, requires_grad=True) for _ in range(n // 100 + 1)]\n"
        "for q in p: q.grad = torch.ones(9)\no = torch.optim.Adam(p)",
        "o.step()",
    ),
    "an optimiser, large": (
        "x = torch.rand(n, requires_grad=True)\ng = torch.ones(n)\no = torch.optim.AdamW([x])",
        "setattr(x, 'grad', g) or o.step() or setattr(x, 'grad', None)",
    ),
    "clip_grad_norm_": (
        "p = [torch.rand(9, requires_grad=True) for _ in range(n // 100 + 1)]\n"
        "for q in p: q.grad = torch.ones(9)",
        "torch.nn.utils.clip_grad_norm_(p, 1.0)",
    ),
    "state_dict": (
        "m = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(n // 1000 + 1)])",
        "m.state_dict()",
    ),
}
